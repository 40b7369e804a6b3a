#include <cmath>
#include <limits>

#include "backend/copying.h"
#include "backend/loss.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// With z = w · x + b and p = softmax(z):  log_prob = log p_target,  loss = -(1-ε) log p_target - ε/V Σ_v log p_v,
// dz = p - (1-ε) onehot - ε/V,  dx = dz · w,  dw = Σ_n dz_n x_nᵀ,  db = Σ_n dz_n.  The weight of a row multiplies its
// loss and dz. If targets may be copied, log_prob is that of the mixture, to which the softmax contributes the share s
// (backend/copying.h): dz = (1-ε) s (p - onehot) + ε (p - 1/V). The ε term belongs to the softmax alone. x, w and dz
// are of type Factor.
template <class T, class Factor>
void cross_entropy_rows(const LossKernels::LinearCrossEntropy& l) {
  const auto X = l.x.view<Factor>();
  const auto W = (l.packed ? l.packed.reshaped(l.w.shape()) : l.w).view<Factor>();  // here packing copies
  const auto DX = l.dx.tensor.view<T>(), DW = l.dw.tensor.view<T>(), loss = l.loss.view<T>(),
             log_prob = l.log_prob.view<T>();
  const auto targets = l.targets.view<int32_t>();
  const auto bias = l.bias.view<T>(), DB = l.dbias.tensor.view<T>();
  const auto weights = l.weights.view<float>();
  const T eps = T(l.label_smoothing), V = T(W.rows);
  const View<T> z{static_cast<T*>(l.scratch.data()), 1, W.rows, W.rows};
  if (DW) begin(DW, l.dw.mode);
  if (DX) begin(DX, l.dx.mode);
  if (DB) begin(DB, l.dbias.mode);
  for (int64_t n = 0; n < X.rows; ++n) {
    T top = -std::numeric_limits<T>::infinity(), sum = 0, total = 0;
    for (int64_t v = 0; v < W.rows; ++v) {
      z(v) = bias ? bias(v) : T(0);
      for (int64_t k = 0; k < X.cols; ++k) z(v) += T(X(n, k)) * T(W(v, k));
      top = std::max(top, z(v));
      total += z(v);
    }
    for (int64_t v = 0; v < W.rows; ++v) sum += std::exp(z(v) - top);
    const T lse = top + std::log(sum);
    const T weight = weights ? T(weights(n)) : T(1);
    const TargetMixture<T> mixture = target_mixture(l, n, z(targets(n)) - lse);
    log_prob(n) = mixture.log_prob;
    loss(n) = weight * (-(1 - eps) * log_prob(n) - eps * (total / V - lse));
    put_target_gradients(l, n, mixture, weight * (1 - eps));
    for (int64_t v = 0; l.backward() && v < W.rows; ++v) {
      const T p = std::exp(z(v) - lse), onehot = v == targets(n) ? 1 : 0;
      const T dz = T(Factor(weight * ((1 - eps) * mixture.share * (p - onehot) + eps * (p - 1 / V))));
      if (DB) DB(v) += dz;
      for (int64_t k = 0; k < X.cols; ++k) {
        if (DX) DX(n, k) += dz * T(W(v, k));
        if (DW) DW(v, k) += dz * T(X(n, k));
      }
    }
  }
}

}  // namespace

void install_loss(LossKernels& b) {
  b.linear_cross_entropy_scratch = [](int64_t, int64_t V, DType factors) { return V * size_of(stat_type(factors)); };
  b.linear_cross_entropy = [](const LossKernels::LinearCrossEntropy& l) {
    if (is_half(l.x.dtype())) return for_half(l.x.dtype(), [&]<class Half>() { cross_entropy_rows<float, Half>(l); });
    for_dtype(l.x.dtype(), [&]<class T>() { cross_entropy_rows<T, T>(l); });
  };
}

}  // namespace dragoman::reference
