#include <cmath>

#include "backend/norm.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Layer normalisation (Ba et al. 2016, eq. 3), without beta RMSNorm (Zhang & Sennrich 2019, eq. 4).  y, x (N,D)  mean,
// rstd (N)  gamma, beta (D)
void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
                const Tensor& beta, double eps) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>(), G = gamma.view<T>(), B = beta.view<T>();
    const auto M = mean.view<T>(), R = rstd.view<T>();
    const int64_t D = X.cols;
    for (int64_t n = 0; n < X.rows; ++n) {
      T sum = 0, squares = 0;
      for (int64_t d = 0; d < D; ++d) sum += X(n, d);
      M(n) = beta ? sum / T(D) : T(0);
      for (int64_t d = 0; d < D; ++d) squares += (X(n, d) - M(n)) * (X(n, d) - M(n));
      R(n) = 1 / std::sqrt(squares / T(D) + T(eps));
      for (int64_t d = 0; d < D; ++d) Y(n, d) = (X(n, d) - M(n)) * R(n) * G(d) + (B ? B(d) : T(0));
    }
  });
}

// sum = x + mask · r, y = norm(sum): the unfused form, as in the paper.
void residual_norm(const NormKernels::ResidualNorm& a) {
  for_dtype(a.x.dtype(), [&]<class T>() {
    const auto S = a.sum.view<T>(), X = a.x.view<T>(), R = a.r.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d)
        S(n, d) = X(n, d) + T(dropout_factor(a.dropout, n, a.dropout.op, d)) * R(n, d);
  });
  layer_norm(a.y, a.mean, a.rstd, a.sum, a.gamma, a.beta, a.eps);
}

// With n = (x - mean) · rstd and g = dy · gamma:  dx = rstd · (g - mean(g) - n · mean(g · n)),
// dgamma = Σ dy · n,  dbeta = Σ dy,  dr = mask · dx.  Without beta, the term mean(g) is absent.
template <class T>
void norm_backward_rows(const NormKernels::NormBackward& b) {
  const auto DX = b.dx.tensor.view<T>(), DR = b.dr.tensor.view<T>(), DG = b.dgamma.tensor.view<T>(),
             DB = b.dbeta.tensor.view<T>(), DY = b.dy.view<T>(), X = b.sum.view<T>(), G = b.gamma.view<T>(),
             M = b.mean.view<T>(), R = b.rstd.view<T>();
  if (DG) begin(DG, b.dgamma.mode);
  if (DB) begin(DB, b.dbeta.mode);
  const int64_t D = X.cols;
  for (int64_t n = 0; n < X.rows; ++n) {
    T mean_g = 0, mean_gn = 0;
    for (int64_t d = 0; d < D; ++d) {
      const T normed = (X(n, d) - M(n)) * R(n), g = DY(n, d) * G(d);
      if (b.centred) mean_g += g / T(D);
      mean_gn += g * normed / T(D);
      if (DG) DG(d) += DY(n, d) * normed;
      if (DB) DB(d) += DY(n, d);
    }
    for (int64_t d = 0; d < D; ++d) {
      const T dx = R(n) * (DY(n, d) * G(d) - mean_g - (X(n, d) - M(n)) * R(n) * mean_gn);
      if (DX) put(DX(n, d), dx, b.dx.mode);
      if (DR) put(DR(n, d), T(dropout_factor(b.dropout, n, b.dropout.op, d)) * dx, b.dr.mode);
    }
  }
}

void norm_backward(const NormKernels::NormBackward& b) {
  for_dtype(b.dy.dtype(), [&]<class T>() { norm_backward_rows<T>(b); });
}

}  // namespace

void install_norm(NormKernels& b) {
  b.layer_norm = layer_norm;
  b.residual_norm = residual_norm;
  b.norm_scratch = [](int64_t) -> int64_t { return 0; };
  b.norm_backward = norm_backward;
}

}  // namespace dragoman::reference
