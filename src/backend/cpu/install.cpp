#include "backend/cpu/install.h"

#include "backend/backend.h"
#include "backend/cpu/families.h"
#include "backend/cpu/isa.h"

namespace dragoman::cpu {

void install(Backend& b) {
  choose_instructions();
  b.library = "oneDNN " + describe_onednn();
  b.instructions = describe_highway();
  b.arithmetic = b.library + ", own kernels on " + b.instructions;
  b.multiplies_bfloat16 = has_bfloat16();
  b.multiplies_int8 = has_int8_products();
  install_activation(b);
  install_attention(b);
  install_attention_step(b);
  install_batch_norm(b);
  install_cell(b);
  install_dropout(b);
  install_embedding(b);
  install_linear(b);
  install_linear_backward(b);
  install_linear_packed(b);
  install_loss(b);
  install_norm(b);
  install_optimizer(b);
  install_recurrent(b);
  install_rotate(b);
  install_elementwise(b);
  install_top_k(b);
}

}  // namespace dragoman::cpu
