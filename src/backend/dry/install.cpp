#include "backend/dry/install.h"

#include "backend/cpu/install.h"
#include "backend/reference/install.h"

namespace dragoman::dry {
namespace {

// A kernel that computes nothing: tensors of this backend have addresses but no memory.
template <class... A>
void rest(Kernel<void(A...)>& slot) {
  slot = [](A...) {};
}

}  // namespace

void install(Backend& b) {
  Backend sized{.name = "sized"};
  reference::install(sized);
  cpu::install(sized);
  b = sized;  // the size queries are the ones of the real thing
  b.name = "dry";
  rest(b.fill), rest(b.copy), rest(b.add);
  rest(b.linear), rest(b.linear_backward_input), rest(b.linear_backward_weight);
  rest(b.pack), rest(b.linear_packed), rest(b.activation), rest(b.activation_backward);
  rest(b.embedding), rest(b.embedding_backward), rest(b.dropout), rest(b.dropout_backward);
  rest(b.layer_norm), rest(b.residual_norm), rest(b.norm_backward);
  rest(b.attention), rest(b.attention_backward), rest(b.attention_step);
  rest(b.linear_cross_entropy), rest(b.top_k), rest(b.gather_rows), rest(b.scatter_rows);
  rest(b.adam), rest(b.moving_average);
  b.sum = [](const Tensor&) { return 0.0; };
  b.sum_of_squares = [](const Tensor&) { return 0.0; };
}

}  // namespace dragoman::dry
