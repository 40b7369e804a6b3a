#include "backend/backend.h"
#include "backend/cuda/columns.cuh"
#include "backend/cuda/copy.h"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/gemm.h"
#include "backend/cuda/linear.h"
#include "backend/cuda/linear_int8.h"

namespace dragoman::cuda {
namespace {

// y = act(x · wᵀ + b)
void forward(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  gemm({.y = y, .a = {x}, .b = {w, true}, .bias = b, .act = act});
}

// dx = dz · w
void backward_input(Grad dx, const Tensor& dz, const Tensor& w) {
  gemm({.y = dx.tensor, .a = {dz}, .b = {w}, .adds = dx.adds()});
}

constexpr int64_t rows_of_block = 128, columns_of_block = 4 * warp_size;

struct Result {
  Values dz;         // or empty
  View<float> sums;  // column sums, one row per block of rows; or empty
  Values dy, y;      // without relu, y is empty
  bool wide;
};

// Each block handles `rows_of_block` rows of 128 columns, a warp a row at a time and a lane four columns. It reads some
// rows before it writes them, so that the reads overlap: as many as leave registers for three blocks on a
// multiprocessor.
template <class T>
__global__ void __launch_bounds__(threads_per_block, 3) result_kernel(Result r) {
  constexpr int64_t at_once = sizeof(T) == 2 ? 8 : 4, warps = threads_per_block / warp_size;
  __shared__ Four sums[threads_per_block];
  const int64_t lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int64_t d = blockIdx.x * columns_of_block + 4 * lane, first = blockIdx.y * rows_of_block;
  const int64_t last = first + rows_of_block < r.dy.rows ? first + rows_of_block : r.dy.rows;
  const bool inside = d < r.dy.cols;
  Four sum = {};
  for (int64_t from = first + warp; from < last; from += at_once * warps) {
    StoredFour dy[at_once], y[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int64_t n = from + i * warps;
      if (!inside || n >= last) continue;
      dy[i] = load_stored<T>(r.dy, n, d, r.wide);
      if (r.y) y[i] = load_stored<T>(r.y, n, d, r.wide);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int64_t n = from + i * warps;
      Four dz = widened<T>(dy[i], r.dy);
      const Four result = r.y ? widened<T>(y[i], r.y) : Four{{1, 1, 1, 1}};
      for (int j = 0; j < 4; ++j) {
        if (!(result.at[j] > 0)) dz.at[j] = 0;
        sum.at[j] += dz.at[j];
      }
      if (r.dz && inside && n < last) store_four<IfKnown<InFours, T>>(r.dz, n, d, r.wide, dz);
    }
  }
  if (!r.sums) return;
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (warp != 0 || !inside) return;
  for (int64_t other = 1; other < warps; ++other)
    for (int j = 0; j < 4; ++j) sum.at[j] += sums[other * warp_size + lane].at[j];
  store_four(r.sums.row(blockIdx.y), d, r.sums.cols, false, sum);
}

// Splits the rows over enough blocks to fill a GPU, then adds the blocks' sums.
void backward_rows(const Values& dz, const Grad& db, const Values& dy, const Values& y) {
  const int64_t D = dy.cols, parts = blocks_of(dy.rows, rows_of_block);
  const auto memory = piece(parts * D * int64_t{sizeof(float)});
  const View<float> sums{static_cast<float*>(memory.get()), parts, D, D};
  const bool wide = in_fours(dy) && in_fours(dz) && in_fours(y);
  const auto run = [&]<class T>() {
    launch(result_kernel<T>, dim3(blocks_of(D, columns_of_block), unsigned(parts)), dim3(threads_per_block), 0,
           Result{dz, db ? sums : View<float>{}, dy, y, wide});
  };
  if (wide && D % 4 == 0 && all_are(dy.type, {y}))
    for_factor(dy.type, run);
  else
    run.template operator()<Unknown>();
  if (!db) return;
  const Put put(db);
  column_totals({sums.data, parts, D, D}, [=] __device__(int64_t d, float total) { put(0, d, total); });
}

// dz = dy ⊙ act'(y),  db = Σ_n dz
void backward_result(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act) {
  backward_rows(Values(dz), db, Values(dy), act == Activation::relu ? Values(y) : Values());
}

}  // namespace

void column_sums(const Grad& to, const Tensor& x) { backward_rows({}, to, Values(x), {}); }

// dw = dzᵀ · x,  db = Σ_n dz. The sums come first, while dz may still be in the cache.
void linear_backward_weight(Grad dw, Grad db, const Tensor& dz, const Tensor& x) {
  if (db) column_sums(db, dz);
  if (dw && dz.rows() > 0) return gemm({.y = dw.tensor, .a = {dz, true}, .b = {x}, .adds = dw.adds()});
  if (dw && !dw.adds()) clear(dw.tensor);  // a sum over no rows
}

namespace {

// The first `rows` rows of a packed weight as a matrix. Packing only rounds w, if at all.
Tensor unpacked(const Tensor& packed, int64_t rows, int64_t cols) {
  return packed.row_range(0, rows * cols).reshaped({rows, cols});
}

void pack(const Tensor& packed, const Tensor& w) {
  if (packed.dtype() == DType::i8) return pack_int8(packed, w);
  const Tensor matrix = unpacked(packed, w.rows(), w.cols());
  copy(matrix, w);
}

template <class T>
void select(const Tensor& to, const Tensor& from, const Tensor& rows) {
  const auto Y = view<T>(to);
  const auto X = view<const T>(from);
  const int32_t* row = integers(rows);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t i, int64_t d) { Y(i, d) = X(row[i], d); });
}

void select_packed(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
  if (packed.dtype() == DType::i8) return select_int8(selected, packed, rows, D, K);
  const Tensor to = unpacked(selected, rows.elements(), K), from = unpacked(packed, D, K);
  for_factor(packed.dtype(), [&]<class T>() { select<T>(to, from, rows); });
}

// In 16 bits x is rounded too: tensor cores need both factors to have the same type.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                   const Tensor& scratch) {
  if (packed.dtype() == DType::i8) return linear_int8(y, x, packed, b, act, scratch);
  const Tensor w = unpacked(packed, y.cols(), x.cols());
  if (!is_half(w.dtype())) return forward(y, x, w, b, act);
  const Tensor rounded(nullptr, scratch.data(), {x.rows(), x.cols()}, w.dtype(), x.memory());
  copy(rounded, x);
  forward(y, rounded, w, b, act);
}

}  // namespace

void install_linear(Backend& b) {
  b.linear = forward;
  b.linear_backward_input = backward_input;
  b.linear_backward_result = backward_result;
  b.linear_backward_weight = linear_backward_weight;
  b.packed_elements = [](int64_t D, int64_t K, DType packed) { return packed == DType::i8 ? int8_bytes(D, K) : D * K; };
  b.pack = pack;
  b.pack_rounded = pack_rounded;
  b.select_packed = select_packed;
  b.linear_packed_scratch = [](int64_t N, int64_t K, DType packed) {
    if (packed == DType::i8) return int8_bytes(N, K);
    return is_half(packed) ? N * K * size_of(packed) : 0;
  };
  b.linear_packed = linear_packed;
}

}  // namespace dragoman::cuda
