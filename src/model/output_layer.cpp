#include "model/output_layer.h"

#include "backend/backend.h"

namespace dragoman {

void OutputLayer::restrict(std::span<const int32_t> pieces) {
  some_ = {}, some_bias_ = {};  // so that the next ones reuse their memory
  if (pieces.empty()) return;
  const auto count = int64_t(pieces.size());
  const Tensor rows = int_tensor({pieces.begin(), pieces.end()}, {count});
  some_ = select_rows(cx_, all_.weight, rows);
  if (!all_.bias) return;
  some_bias_ = cx_.arena.allocate({count, 1}, all_.bias.dtype());
  cx_.backend.gather_rows(some_bias_, all_.bias.value().reshaped({all_.bias.shape()[0], 1}), rows);
  some_bias_ = some_bias_.reshaped({count});
}

Tensor OutputLayer::operator()(Context& cx, const Var& x) const {
  return some_.rows > 0 ? linear(cx, x, some_, some_bias_) : wide_linear(cx, x, all_.weight, all_.bias);
}

}  // namespace dragoman
