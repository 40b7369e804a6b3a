#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backend/reference/accumulate.h"
#include "backend/reference/decoding.h"
#include "backend/reference/families.h"
#include "backend/rows.h"

namespace dragoman::reference {
namespace {

// values (R,k)  ids (R,k)  lse (R)  logits (R,V)
void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  for_dtype(logits.dtype(), [&]<class T>() {
    const auto Z = logits.view<T>(), best = values.view<T>(), log_sum = lse.view<T>();
    const auto which = ids.view<int32_t>();
    std::vector<int32_t> order(Z.cols);
    for (int64_t r = 0; r < Z.rows; ++r) {
      const T* z = Z.row(r);
      if (lse) {
        const T top = *std::max_element(z, z + Z.cols);
        T sum = 0;
        for (int64_t v = 0; v < Z.cols; ++v) sum += std::exp(z[v] - top);
        log_sum(r) = top + std::log(sum);
      }
      std::iota(order.begin(), order.end(), 0);
      const auto better = [&](int32_t a, int32_t b) { return z[a] != z[b] ? z[a] > z[b] : a < b; };
      std::partial_sort(order.begin(), order.begin() + best.cols, order.end(), better);
      for (int64_t i = 0; i < best.cols; ++i) {
        which(r, i) = order[i];
        best(r, i) = z[order[i]];
      }
      if (!lse && std::any_of(z, z + Z.cols, [](T x) { return std::isnan(x); }))
        best(r, 0) = std::numeric_limits<T>::quiet_NaN();
    }
  });
}

// Calls f(typed view of y, typed view of x).
template <class F>
void for_types(const Tensor& y, const Tensor& x, const F& f) {
  for_stored(y.dtype(), [&]<class Y>() { for_stored(x.dtype(), [&]<class X>() { f(y.view<Y>(), x.view<X>()); }); });
}

template <class Y, class X>
void copy_row(Y* y, const X* x, int64_t count) {
  if constexpr (std::is_same_v<X, Y>)
    std::copy_n(x, count, y);
  else
    std::transform(x, x + count, y, [](X value) { return Y(float(value)); });
}

void gather_rows(const Tensor& y, const Tensor& x, const Tensor& rows) {
  for_types(y, x, [&](auto Y, auto X) {
    for (int64_t i = 0; i < Y.rows; ++i) copy_row(Y.row(i), X.row(rows.as<int32_t>()[i]), Y.cols);
  });
}

}  // namespace

void scatter_rows(const Tensor& y, const Tensor& x, const Tensor& rows) {
  for_types(y, x, [&](auto Y, auto X) {
    for (int64_t i = 0; i < X.rows; ++i) copy_row(Y.row(rows.as<int32_t>()[i]), X.row(i), X.cols);
  });
}

namespace {

// The weight of a row in its sentence's sum or mean.
template <class T>
T share(Range rows, bool mean) {
  return mean ? 1 / T(rows.end - rows.begin) : T(1);
}

void pool(const Tensor& y, const Tensor& x, const Spans& spans, bool mean) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>();
    begin(Y, Accumulate::no);
    for (int s = 0; s < spans.sentences(); ++s)
      for (int64_t n = spans[s].begin; n < spans[s].end; ++n)
        for (int64_t d = 0; d < X.cols; ++d) Y(s, d) += share<T>(spans[s], mean) * X(n, d);
  });
}

void pool_backward(Grad dx, const Tensor& dy, const Spans& spans, bool mean) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DY = dy.view<T>();
    for (int s = 0; s < spans.sentences(); ++s)
      for (int64_t n = spans[s].begin; n < spans[s].end; ++n)
        for (int64_t d = 0; d < DY.cols; ++d) put(DX(n, d), share<T>(spans[s], mean) * DY(s, d), dx.mode);
  });
}

// Calls f(row, neighbour, column) for each existing neighbour of a row and its first column in the row.
template <class F>
void each_neighbour(const Spans& spans, int64_t width, int64_t cols, const F& f) {
  for (int s = 0; s < spans.sentences(); ++s) {
    const Range rows = spans[s];
    for (int64_t n = rows.begin; n < rows.end; ++n)
      for (int64_t w = 0; w < width; ++w) {
        const int64_t neighbour = n + w - (width - 1) / 2;
        if (rows.begin <= neighbour && neighbour < rows.end) f(n, neighbour, w * cols);
      }
  }
}

void neighbours(const Tensor& y, const Tensor& x, const Spans& spans) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>();
    begin(Y, Accumulate::no);
    each_neighbour(spans, Y.cols / X.cols, X.cols, [&](int64_t n, int64_t neighbour, int64_t column) {
      std::copy_n(X.row(neighbour), X.cols, Y.row(n) + column);
    });
  });
}

void neighbours_backward(Grad dx, const Tensor& dy, const Spans& spans) {
  for_dtype(dy.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DY = dy.view<T>();
    begin(DX, dx.mode);
    each_neighbour(spans, DY.cols / DX.cols, DX.cols, [&](int64_t n, int64_t neighbour, int64_t column) {
      const T* from = DY.row(n) + column;
      T* to = DX.row(neighbour);
      for (int64_t d = 0; d < DX.cols; ++d) to[d] += from[d];
    });
  });
}

}  // namespace

void install_rows(RowKernels& b) {
  b.top_k = top_k;
  b.pool = pool;
  b.pool_backward = pool_backward;
  b.neighbours = neighbours;
  b.neighbours_backward = neighbours_backward;
  b.gather_rows = gather_rows;
  b.scatter_rows = scatter_rows;
}

}  // namespace dragoman::reference
