#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"

namespace dragoman::cuda {
namespace {

void gather_rows(const Tensor& y, const Tensor& x, const Tensor& rows) {
  const Values Y(y), X(x);
  const int32_t* row = integers(rows);
  const bool wide = in_fours(Y) && in_fours(X);
  each_four(Y.rows, Y.cols,
            [=] __device__(int64_t i, int64_t d) { store_four(Y, i, d, wide, load_four(X, row[i], d, wide)); });
}

void scatter_rows(const Tensor& y, const Tensor& x, const Tensor& rows) {
  const Values Y(y), X(x);
  const int32_t* row = integers(rows);
  const bool wide = in_fours(Y) && in_fours(X);
  each_four(X.rows, X.cols,
            [=] __device__(int64_t i, int64_t d) { store_four(Y, row[i], d, wide, load_four(X, i, d, wide)); });
}

/// The weight of a row in its sentence's sum or mean.
__device__ float share(int32_t rows, bool mean) { return mean ? 1 / float(rows) : 1.f; }

void pool(const Tensor& y, const Tensor& x, const Spans& spans, bool mean) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x);
  const int32_t* offsets = integers(spans.offsets());
  each_element(Y.rows, Y.cols, [=] __device__(int64_t s, int64_t d) {
    float sum = 0;
    for (int32_t n = offsets[s]; n < offsets[s + 1]; ++n) sum += share(offsets[s + 1] - offsets[s], mean) * X(n, d);
    Y(s, d) = sum;
  });
}

void pool_backward(Grad dx, const Tensor& dy, const Spans& spans, bool mean) {
  const Put DX(dx);
  const auto DY = view<const float>(dy);
  const int32_t* offsets = integers(spans.offsets());
  each_element(DY.rows, DY.cols, [=] __device__(int64_t s, int64_t d) {
    for (int32_t n = offsets[s]; n < offsets[s + 1]; ++n) DX(n, d, share(offsets[s + 1] - offsets[s], mean) * DY(s, d));
  });
}

// Row n of y (N,W·D) holds rows n - (W-1)/2 … n + W/2 of x, zeros beyond the sentence.
void neighbours(const Tensor& y, const Tensor& x, const Spans& spans) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x);
  const int32_t* offsets = integers(spans.offsets());
  const int64_t D = X.cols, before = (Y.cols / D - 1) / 2;
  each_element(spans.sentences(), Y.cols, [=] __device__(int64_t s, int64_t column) {
    const int64_t distance = column / D - before;
    for (int64_t n = offsets[s]; n < offsets[s + 1]; ++n) {
      const int64_t neighbour = n + distance;
      Y(n, column) = offsets[s] <= neighbour && neighbour < offsets[s + 1] ? X(neighbour, column % D) : 0.f;
    }
  });
}

void neighbours_backward(Grad dx, const Tensor& dy, const Spans& spans) {
  const Put DX(dx);
  const auto DY = view<const float>(dy);
  const int32_t* offsets = integers(spans.offsets());
  const int64_t D = dx.tensor.cols(), width = DY.cols / D, before = (width - 1) / 2;
  each_element(spans.sentences(), D, [=] __device__(int64_t s, int64_t d) {
    for (int64_t n = offsets[s]; n < offsets[s + 1]; ++n) {
      float sum = 0;
      for (int64_t w = 0; w < width; ++w) {
        const int64_t from = n - w + before;  // the row whose w-th neighbour is n
        if (offsets[s] <= from && from < offsets[s + 1]) sum += DY(from, w * D + d);
      }
      DX(n, d, sum);
    }
  });
}

}  // namespace

void install_rows(Backend& b) {
  b.pool = pool;
  b.pool_backward = pool_backward;
  b.neighbours = neighbours;
  b.neighbours_backward = neighbours_backward;
  b.gather_rows = gather_rows;
  b.scatter_rows = scatter_rows;
}

}  // namespace dragoman::cuda
