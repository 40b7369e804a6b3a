#include <cmath>

#include "backend/norm.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Mean and rstd of column d over the rows of x, and one step of the running statistics towards them.
template <class T>
void statistics_of_rows(const NormKernels::BatchNorm& a, int64_t d) {
  const auto X = a.x.view<T>(), M = a.mean.view<T>(), R = a.rstd.view<T>();
  const auto running_mean = a.running_mean.view<T>(), running_variance = a.running_variance.view<T>();
  const T N = T(X.rows), share = T(a.momentum);
  T sum = 0, squares = 0;
  for (int64_t n = 0; n < X.rows; ++n) sum += X(n, d);
  M(d) = X.rows > 0 ? sum / N : T(0);
  for (int64_t n = 0; n < X.rows; ++n) squares += (X(n, d) - M(d)) * (X(n, d) - M(d));
  R(d) = 1 / std::sqrt((X.rows > 0 ? squares / N : T(0)) + T(a.eps));
  if (X.rows < 2 || !std::isfinite(squares)) return;
  running_mean(d) += share * (M(d) - running_mean(d));
  running_variance(d) += share * (squares / (N - 1) - running_variance(d));
}

// Batch normalisation (Ioffe & Szegedy 2015, algorithms 1 and 2).  y, x (N,D)  all else (D)
void forward(const NormKernels::BatchNorm& a) {
  for_dtype(a.x.dtype(), [&]<class T>() {
    const auto Y = a.y.view<T>(), X = a.x.view<T>(), M = a.mean.view<T>(), R = a.rstd.view<T>();
    const auto G = a.gamma.view<T>(), B = a.beta.view<T>();
    for (int64_t d = 0; d < X.cols; ++d) {
      if (a.momentum > 0) {
        statistics_of_rows<T>(a, d);
      } else {
        M(d) = a.running_mean.view<T>()(d);
        R(d) = 1 / std::sqrt(a.running_variance.view<T>()(d) + T(a.eps));
      }
      for (int64_t n = 0; n < X.rows; ++n) Y(n, d) = (X(n, d) - M(d)) * R(d) * G(d) + B(d);
    }
  });
}

// With n = (x - mean) · rstd:  dgamma = Σ dy · n,  dbeta = Σ dy,  dx = gamma · rstd · (dy - dbeta / N - n · dgamma /
// N). If mean and rstd do not depend on x, dx = gamma · rstd · dy.
void backward(const NormKernels::BatchNormBackward& b) {
  for_dtype(b.dy.dtype(), [&]<class T>() {
    const auto DX = b.dx.tensor.view<T>(), DG = b.dgamma.tensor.view<T>(), DB = b.dbeta.tensor.view<T>();
    const auto DY = b.dy.view<T>(), X = b.x.view<T>(), G = b.gamma.view<T>(), M = b.mean.view<T>(),
               R = b.rstd.view<T>();
    for (int64_t d = 0; d < X.cols; ++d) {
      const auto normed = [&](int64_t n) { return (X(n, d) - M(d)) * R(d); };
      T dgamma = 0, dbeta = 0;
      for (int64_t n = 0; n < X.rows; ++n) dgamma += DY(n, d) * normed(n), dbeta += DY(n, d);
      if (DG) put(DG(d), dgamma, b.dgamma.mode);
      if (DB) put(DB(d), dbeta, b.dbeta.mode);
      if (!DX) continue;
      const T mean_dyn = b.of_rows ? dgamma / T(X.rows) : T(0), mean_dy = b.of_rows ? dbeta / T(X.rows) : T(0);
      for (int64_t n = 0; n < X.rows; ++n)
        put(DX(n, d), G(d) * R(d) * (DY(n, d) - mean_dy - normed(n) * mean_dyn), b.dx.mode);
    }
  });
}

}  // namespace

void install_batch_norm(NormKernels& b) {
  b.batch_norm = forward;
  b.batch_norm_backward = backward;
}

}  // namespace dragoman::reference
