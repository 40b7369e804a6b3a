#pragma once
#include <cmath>
#include <limits>

namespace dragoman {

/// What gradients, sums over labels whose squares add up to `squares`, are multiplied by as Adam reads them, so that
/// the norm of their mean is `clip_norm` at most; 0: any. NaN where the update must not change anything, as the loss or
/// a gradient is not finite.
template <class T>
constexpr T gradient_scale(T target_tokens, T clip_norm, T loss, T squares) {
  if (!std::isfinite(loss) || !std::isfinite(squares)) return std::numeric_limits<T>::quiet_NaN();
  const T norm = std::sqrt(squares) / target_tokens;
  return (clip_norm > 0 && norm > clip_norm ? clip_norm / norm : 1) / target_tokens;
}

}  // namespace dragoman
