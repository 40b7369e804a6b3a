#include "backend/cuda/linear_int8.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "backend/cuda/device.cuh"
#include "backend/cuda/gemm.h"
#include "backend/reference/activation.h"

namespace dragoman::cuda {
namespace {

// Quantized rows, zero-padded to multiples of 16 bytes for cuBLASLt, followed by the scales of all rows: a packed
// weight, or x on its way into a product.
struct Rounded {
  static constexpr int64_t unit = 16;

  Rounded(void* memory, int64_t rows, int64_t K)
      : rows(rows),
        stride((K + unit - 1) / unit * unit),
        q(static_cast<int8_t*>(memory)),
        scales(reinterpret_cast<float*>(q + rows * stride)) {}
  int64_t bytes() const { return rows * (stride + int64_t{sizeof(float)}); }
  Tensor matrix() const { return {nullptr, q, {rows, stride}, DType::i8, &device_memory()}; }
  View<const int32_t> words() const {  // four integers each
    return {reinterpret_cast<const int32_t*>(q), rows, stride / 4, stride / 4};
  }

  int64_t rows, stride;
  int8_t* q;
  float* scales;
};

// One block per row: x ≈ top / 127 · q, rounded to nearest, ties to even. All backends divide in the same way, so
// finite values give the same integers.
__global__ void round_kernel(Rounded to, View<const float> x) {
  const int64_t n = blockIdx.x;
  float top = 0;
  for (int64_t k = threadIdx.x; k < x.cols; k += blockDim.x) top = Larger{}(top, fabsf(x(n, k)));
  top = block_reduce(top, 0.f, Larger{});
  const float inverse = top > 0 ? 127 / top : 0;
  for (int64_t k = threadIdx.x; k < to.stride; k += blockDim.x)
    to.q[n * to.stride + k] = int8_t(k < x.cols ? rintf(x(n, k) * inverse) : 0);
  if (threadIdx.x == 0) to.scales[n] = top / 127;
}

void round_rows(const Rounded& to, const Tensor& x) {
  launch(round_kernel, dim3(unsigned(to.rows)), dim3(threads_per_block), 0, to, view<const float>(x));
}

// Turns a sum into an element of y, in the same order of operations as every other backend.
struct Result {
  View<float> y;
  const float *row_scales, *scales;
  View<const float> bias;
  Activation act;

  __device__ void put(int64_t n, int64_t d, int32_t sum) const {
    const float scaled = fmaf(float(sum) * row_scales[n], scales[d], bias ? bias(d) : 0.f);
    y(n, d) = reference::activate(scaled, act);
  }
};

// A warp multiplies a row of w, which it reads once, by up to 8 rows of x, four integers per instruction.
constexpr int rows_of_warp = 8, warps_of_block = threads_per_block / warp_size;

__global__ void int8_kernel(Result result, View<const int32_t> x, View<const int32_t> w) {
  const int64_t d = blockIdx.x * int64_t{warps_of_block} + threadIdx.x / warp_size;
  const int64_t first = blockIdx.y * int64_t{rows_of_warp};
  if (d >= w.rows) return;
  int32_t sums[rows_of_warp] = {};
  for (int64_t k = threadIdx.x % warp_size; k < w.cols; k += warp_size) {
    const int32_t four = w(d, k);
#pragma unroll
    for (int r = 0; r < rows_of_warp; ++r)
      if (first + r < x.rows) sums[r] = __dp4a(x(first + r, k), four, sums[r]);
  }
#pragma unroll
  for (int r = 0; r < rows_of_warp; ++r)
    if (first + r < x.rows) {
      const int32_t sum = warp_reduce(sums[r], Plus{});
      if (threadIdx.x % warp_size == 0) result.put(first + r, d, sum);
    }
}

// Uses matrix units where cuBLASLt does. It needs a multiple of 4 columns in y, and PyTorch refuses 16 rows or fewer
// before calling it (aten/src/ATen/native/cuda/Blas.cpp, _int_mm). For so few rows reading w dominates, and int8_kernel
// reads it once. The sums are stored where y will be.
bool multiply_in_library(const Tensor& y, const Rounded& x, const Rounded& w) {
  if (x.rows <= 16 || w.rows % 4 != 0 || !y.contiguous()) return false;
  const Tensor sums(nullptr, y.data(), {x.rows, w.rows}, DType::i32, y.memory());
  return try_gemm({.y = sums, .a = {x.matrix()}, .b = {w.matrix(), true}});
}

}  // namespace

int64_t int8_bytes(int64_t rows, int64_t K) { return Rounded(nullptr, rows, K).bytes(); }

void pack_int8(const Tensor& packed, const Tensor& w) { round_rows(Rounded(packed.data(), w.rows(), w.cols()), w); }

void pack_rounded(const Tensor& packed, std::span<const RoundedRows> parts) {
  std::vector<int8_t> bytes(size_t(packed.bytes()));
  int64_t D = 0, row = 0;
  for (const RoundedRows& part : parts) D += part.q.rows();
  const Rounded all(bytes.data(), D, parts.front().q.cols());
  for (const auto& [q, scales] : parts) {
    const auto Q = q.view<const int8_t>();
    std::copy_n(scales.as<float>(), Q.rows, all.scales + row);
    for (int64_t d = 0; d < Q.rows; ++d) std::copy_n(Q.row(d), Q.cols, all.q + row++ * all.stride);
  }
  packed.assign(Tensor::borrow(bytes.data(), packed.shape()));
}

void select_int8(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
  const Rounded to(selected.data(), rows.elements(), K), from(packed.data(), D, K);
  const int32_t* row = integers(rows);
  each_element(to.rows, to.stride, [=] __device__(int64_t i, int64_t k) {
    to.q[i * to.stride + k] = from.q[row[i] * from.stride + k];
    if (k == 0) to.scales[i] = from.scales[row[i]];
  });
}

void linear_int8(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                 const Tensor& scratch) {
  const Rounded rows(scratch.data(), x.rows(), x.cols()), w(packed.data(), y.cols(), x.cols());
  round_rows(rows, x);
  const Result result{view<float>(y), rows.scales, w.scales, view<const float>(b), act};
  if (multiply_in_library(y, rows, w))
    each_element(rows.rows, w.rows,
                 [=] __device__(int64_t n, int64_t d) { result.put(n, d, std::bit_cast<int32_t>(result.y(n, d))); });
  else
    launch(int8_kernel, dim3(blocks_of(w.rows, warps_of_block), blocks_of(rows.rows, rows_of_warp)),
           dim3(threads_per_block), 0, result, rows.words(), w.words());
}

}  // namespace dragoman::cuda
