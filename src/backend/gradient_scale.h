#pragma once
#include <cmath>
#include <limits>

namespace dragoman {

/// The factor by which Adam multiplies gradients (sums over target tokens whose squares add up to `squares`), so that
/// the norm of their mean is at most `clip_norm`; 0: no limit. NaN if the loss or a gradient is not finite: then the
/// update must change nothing.
template <class T>
constexpr T gradient_scale(T target_tokens, T clip_norm, T loss, T squares) {
  if (!std::isfinite(loss) || !std::isfinite(squares)) return std::numeric_limits<T>::quiet_NaN();
  const T norm = std::sqrt(squares) / target_tokens;
  return (clip_norm > 0 && norm > clip_norm ? clip_norm / norm : 1) / target_tokens;
}

}  // namespace dragoman
