#include "backend/cuda/column_sums.h"
#include "backend/cuda/families.h"
#include "backend/cuda/gemm.h"
#include "backend/cuda/put.cuh"
#include "backend/reference/activation.h"

namespace dragoman::cuda {
namespace {

bool in_epilogue(Activation act) { return act == Activation::none || act == Activation::relu; }

void activate_in_place(const Tensor& y, Activation act) {
  const auto Y = view<float>(y);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = reference::activate(Y(n, d), act); });
}

// y = act(x · wᵀ + b)
void forward(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  const bool done = in_epilogue(act);
  gemm({.y = y, .a = {x}, .b = {w, true}, .bias = b, .act = done ? act : Activation::none});
  if (!done) activate_in_place(y, act);
}

// dx = dy · w
void backward_input(Grad dx, const Tensor& dy, const Tensor& w) {
  gemm({.y = dx.tensor, .a = {dy}, .b = {w}, .adds = dx.adds()});
}

// A block sums 32 neighbouring columns; its 8 warps share out the rows.
template <class T>
__global__ void column_sum_kernel(View<const T> x, Put to) {
  __shared__ float sums[threads_per_block];
  const int64_t d = blockIdx.x * int64_t{warp_size} + threadIdx.x % warp_size;
  const unsigned warp = threadIdx.x / warp_size, warps = threads_per_block / warp_size;
  float sum = 0;
  if (d < x.cols)
    for (int64_t n = warp; n < x.rows; n += warps) sum += float(x(n, d));
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (warp != 0 || d >= x.cols) return;
  for (unsigned w = 1; w < warps; ++w) sum += sums[w * warp_size + threadIdx.x];
  to(0, d, sum);
}

}  // namespace

void column_sums(const Grad& to, const Tensor& x) {
  const dim3 grid(blocks_of(x.cols(), warp_size)), block(threads_per_block);
  if (x.dtype() == DType::bf16)
    launch(column_sum_kernel<bfloat16>, grid, block, 0, view<const bfloat16>(x), Put(to));
  else
    launch(column_sum_kernel<float>, grid, block, 0, view<const float>(x), Put(to));
}

namespace {

void clear(const Tensor& x) {
  const auto X = view<float>(x);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { X(n, d) = 0; });
}

// dw = dyᵀ · x,  db = Σ_n dy
void backward_weight(Grad dw, Grad db, const Tensor& dy, const Tensor& x) {
  if (db) column_sums(db, dy);
  if (!dw) return;
  if (dy.rows() > 0) return gemm({.y = dw.tensor, .a = {dy, true}, .b = {x}, .adds = dw.adds()});
  if (!dw.adds()) clear(dw.tensor);  // the sum of nothing
}

void require_floats(DType packed) {
  if (packed == DType::i8)
    throw Error("int8 products are not there on a GPU", "use --precision float32 or bfloat16, or --devices cpu");
}

// The first `rows` of a packed weight, as a matrix: it is w as it is, rounded if it is of bf16.
Tensor unpacked(const Tensor& packed, int64_t rows, int64_t cols) {
  return packed.row_range(0, rows * cols).reshaped({rows, cols});
}

template <class T>
void convert(const Tensor& y, const Tensor& x) {
  const auto Y = view<T>(y);
  const auto X = view<const float>(x);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = T(X(n, d)); });
}

void pack(const Tensor& packed, const Tensor& w) {
  require_floats(packed.dtype());
  const Tensor matrix = unpacked(packed, w.rows(), w.cols());
  packed.dtype() == DType::bf16 ? convert<bfloat16>(matrix, w) : convert<float>(matrix, w);
}

template <class T>
void select(const Tensor& to, const Tensor& from, const Tensor& rows) {
  const auto Y = view<T>(to);
  const auto X = view<const T>(from);
  const int32_t* row = integers(rows);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t i, int64_t d) { Y(i, d) = X(row[i], d); });
}

void select_packed(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
  const Tensor to = unpacked(selected, rows.elements(), K), from = unpacked(packed, D, K);
  packed.dtype() == DType::bf16 ? select<bfloat16>(to, from, rows) : select<float>(to, from, rows);
}

// In bf16 x is rounded too: both factors of a product on tensor cores are of one type.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                   const Tensor& scratch) {
  const Tensor w = unpacked(packed, y.cols(), x.cols());
  if (w.dtype() != DType::bf16) return forward(y, x, w, b, act);
  const Tensor rounded(nullptr, scratch.data(), {x.rows(), x.cols()}, DType::bf16, x.memory());
  convert<bfloat16>(rounded, x);
  forward(y, rounded, w, b, act);
}

}  // namespace

void install_linear(Backend& b) {
  b.linear = forward;
  b.linear_backward_input = backward_input;
  b.linear_backward_weight = backward_weight;
  b.packed_elements = [](int64_t D, int64_t K, DType packed) {
    require_floats(packed);
    return D * K;
  };
  b.pack = pack;
  b.select_packed = select_packed;
  b.linear_packed_scratch = [](int64_t N, int64_t K, DType packed) {
    return packed == DType::bf16 ? N * K * int64_t{sizeof(bfloat16)} : 0;
  };
  b.linear_packed = linear_packed;
}

}  // namespace dragoman::cuda
