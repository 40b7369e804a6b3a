#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"
#include "backend/rows.h"

namespace dragoman::reference {
namespace {

void mix_rows(const Tensor& y, const Tensor& x, const Tensor& rows, const Tensor& weights) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>(), W = weights.view<T>();
    const auto which = rows.view<int32_t>();
    begin(Y, Accumulate::no);
    for (int64_t n = 0; n < Y.rows; ++n)
      for (int64_t j = 0; j < which.cols; ++j) {
        if (which(n, j) < 0) continue;
        const T w = W ? W(n, j) : T(1);
        const T* from = X.row(which(n, j));
        T* to = Y.row(n);
        for (int64_t d = 0; d < Y.cols; ++d) to[d] += w * from[d];
      }
  });
}

// dx[rows(n,j)] = weights(n,j) · dy[n];  dweights(n,j) = dy[n] · x[rows(n,j)].
void mix_rows_backward(Grad dx, Grad dweights, const Tensor& dy, const Tensor& x, const Tensor& rows,
                       const Tensor& weights) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DW = dweights.tensor.view<T>();
    const auto DY = dy.view<T>(), X = x.view<T>(), W = weights.view<T>();
    const auto which = rows.view<int32_t>();
    for (int64_t n = 0; n < DY.rows; ++n)
      for (int64_t j = 0; j < which.cols; ++j) {
        const int64_t row = which(n, j);
        T sum = 0;
        for (int64_t d = 0; row >= 0 && d < DY.cols; ++d) {
          if (DX) put(DX(row, d), W(n, j) * DY(n, d), dx.mode);
          if (DW) sum += DY(n, d) * X(row, d);
        }
        if (DW) put(DW(n, j), sum, dweights.mode);
      }
  });
}

// The k largest of z (E), best first.
template <class T>
void find_best(std::span<int32_t> best, std::span<const T> z) {
  for (auto next = best.begin(); next != best.end(); ++next) {
    *next = -1;
    for (int32_t e = 0; e < int32_t(z.size()); ++e)
      if (std::find(best.begin(), next, e) == next && (*next < 0 || z[size_t(e)] > z[size_t(*next)])) *next = e;
  }
}

template <class T>
std::vector<T> softmax(std::vector<T> z) {
  const T top = *std::max_element(z.begin(), z.end());
  T sum = 0;
  for (T& x : z) sum += x = std::exp(x - top);
  for (T& x : z) x /= sum;
  return z;
}

// Shazeer et al. 2017, eq. 5: -inf for all but the best. For k = 1 all are kept: a softmax over one would be 1 whatever
// the logits (Fedus et al. 2021, eq. 2).
template <class T>
std::vector<T> keep_top(std::span<const T> z, std::span<const int32_t> best) {
  if (best.size() == 1) return {z.begin(), z.end()};
  std::vector<T> kept(z.size(), -std::numeric_limits<T>::infinity());
  for (const int32_t e : best) kept[size_t(e)] = z[size_t(e)];
  return kept;
}

template <class T>
std::span<T> row_of(View<T> x, int64_t n) {
  return {x.row(n), size_t(x.cols)};
}

void route(const Tensor& gates, const Tensor& experts, const Tensor& logits) {
  for_dtype(logits.dtype(), [&]<class T>() {
    const auto G = gates.view<T>();
    const auto Z = logits.view<const T>();
    const auto best = experts.view<int32_t>();
    for (int64_t n = 0; n < Z.rows; ++n) {
      find_best(row_of(best, n), row_of(Z, n));
      const std::vector<T> p = softmax(keep_top<T>(row_of(Z, n), row_of(best, n)));
      for (int64_t j = 0; j < G.cols; ++j) G(n, j) = p[size_t(best(n, j))];
    }
  });
}

// dz_e += weight · p_e (g_e - Σ_i p_i g_i), where g are the gradients of p = softmax(z).
template <class T>
void softmax_backward(T* dz, const std::vector<T>& p, const std::vector<T>& g, T weight) {
  T mean = 0;
  for (size_t e = 0; e < p.size(); ++e) mean += p[e] * g[e];
  for (size_t e = 0; e < p.size(); ++e) dz[e] += p[e] * (weight * (g[e] - mean));
}

void route_backward(Grad dlogits, const Tensor& dgates, const Tensor& logits, const Tensor& experts, const Tensor& load,
                    const Tensor& weights) {
  for_dtype(logits.dtype(), [&]<class T>() {
    const auto DZ = dlogits.tensor.view<T>(), DG = dgates.view<T>();
    const auto Z = logits.view<const T>();
    const auto best = experts.view<int32_t>();
    begin(DZ, dlogits.mode);
    std::vector<T> of_load(size_t(Z.cols)), of_gates;
    for (size_t e = 0; load && e < of_load.size(); ++e) of_load[e] = T(load.as<float>()[e]);
    for (int64_t n = 0; n < Z.rows; ++n) {
      of_gates.assign(size_t(Z.cols), 0);
      for (int64_t j = 0; j < DG.cols; ++j) of_gates[size_t(best(n, j))] = DG(n, j);
      softmax_backward(DZ.row(n), softmax(keep_top<T>(row_of(Z, n), row_of(best, n))), of_gates, T(1));
      if (load)
        softmax_backward(DZ.row(n), softmax<T>({Z.row(n), Z.row(n) + Z.cols}), of_load,
                         weights ? T(weights.as<float>()[n]) : T(1));
    }
  });
}

}  // namespace

void install_experts(RowKernels& b) {
  b.mix_rows = mix_rows;
  b.mix_rows_backward = mix_rows_backward;
  b.route = route;
  b.route_backward = route_backward;
}

}  // namespace dragoman::reference
