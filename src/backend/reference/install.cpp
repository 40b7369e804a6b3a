#include "backend/reference/install.h"

#include "backend/backend.h"
#include "backend/reference/families.h"

namespace dragoman::reference {

void install(Backend& b) {
  install_activation(b);
  install_attention(b);
  install_batch_norm(b);
  install_cell(b);
  install_copying(b);
  install_dropout(b);
  install_elementwise(b);
  install_embedding(b);
  install_experts(b);
  install_hard_attention(b);
  install_linear(b);
  install_local_attention(b);
  install_loss(b);
  install_next_rows(b);
  install_norm(b);
  install_optimizer(b);
  install_recurrent(b);
  install_rows(b);
}

}  // namespace dragoman::reference
