#include "model/output_layer.h"

namespace dragoman {

void OutputLayer::restrict(std::span<const int32_t> pieces) {
  some_ = {};  // its memory serves the next ones
  if (pieces.empty()) return;
  some_ = select_rows(cx_, weight_, int_tensor({pieces.begin(), pieces.end()}, {int64_t(pieces.size())}));
}

Tensor OutputLayer::operator()(Context& cx, const Var& x) const {
  return some_.rows > 0 ? linear(cx, x, some_) : linear(cx, x, weight_, Var());
}

}  // namespace dragoman
