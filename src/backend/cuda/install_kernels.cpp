#include "backend/cuda/families.h"

namespace dragoman::cuda {

void install_kernels(Backend& b) {
  install_activation(b);
  install_attention(b);
  install_attention_step(b);
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
  install_top_k(b);
}

}  // namespace dragoman::cuda
