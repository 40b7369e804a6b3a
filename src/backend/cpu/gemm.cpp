#include "backend/cpu/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "backend/cpu/gemm_bf16.h"
#include "backend/cpu/isa.h"
#include "base/threads.h"

namespace dragoman::cpu {
namespace {

char letter(Transpose t) { return t == Transpose::yes ? 'T' : 'N'; }

int64_t leading(const Tensor& x) { return std::max<int64_t>(1, x.stride()); }

// Sets OpenMP's number of threads for this thread to 1 while oneDNN computes a product here: it must start no threads.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMpThread() { omp_set_num_threads(before_); }

 private:
  const int before_;
};

// On the calling thread. K > 0
void product(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
             Accumulate mode, int64_t K) {
  const OneOpenMpThread one;
  if (a.dtype() == DType::bf16) return gemm_bf16(c, a, transpose_a, b, transpose_b, mode);
  const dnnl_status_t status =
      dnnl_sgemm(letter(transpose_a), letter(transpose_b), c.rows(), c.cols(), K, 1, a.as<const float>(), leading(a),
                 b.as<const float>(), leading(b), mode == Accumulate::yes ? 1 : 0, c.as<float>(), leading(c));
  invariant(status == dnnl_success, "oneDNN refused a matrix product");
}

// Whether rows are a multiple of 2 KiB apart, so that a column maps to at most two sets of the L1 cache.
bool crowds(const Tensor& x) { return x.dtype() == DType::f32 && x.stride() % 512 == 0; }

// A copy in f32 in `room`, whose rows are one more cache line apart.
Tensor copied(const Tensor& x, std::vector<float>& room) {
  const int64_t stride = x.cols() + 16;
  room.resize(std::max(room.size(), size_t(x.rows() * stride)));
  const Tensor copy = Tensor::borrow(room.data(), {x.rows(), stride}).columns(0, x.cols());
  const auto rows_of = [&](const auto& X) {
    for (int64_t n = 0; n < X.rows; ++n) std::copy_n(X.row(n), X.cols, copy.view<float>().row(n));
  };
  if (x.dtype() == DType::bf16)
    rows_of(x.view<const bfloat16>());
  else
    rows_of(x.view<const float>());
  return copy;
}

// On AVX2, oneDNN has a kernel that reads both factors in place, and uses it if c is small, as with the rows of one
// thread. It walks down the columns of a transposed a and of an untransposed b, at half the speed if these crowd.
bool goes_down_columns(const Tensor& c, Transpose transpose_b) {
  return transpose_b == Transpose::no && 1.0 / double(c.rows()) + 1.0 / double(c.cols()) > 0.0038 &&
         has_no_more_than_avx2();
}

// Copying pays off if enough rows or columns of c use the copy, and c is not read and written too often.
bool worth_a_copy(int64_t users, int64_t width) { return users >= 64 && width <= 4096; }

// c = or += op(a) · op(b) from copies of factors, as many rows at a time as fit in the L2 cache, but not too few: each
// part reads and writes c.
void product_of_copies(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
                       Accumulate mode, int64_t K, bool copies_a, bool copies_b) {
  constexpr int64_t cached = 1 << 18;  // numbers
  thread_local std::vector<float> room_a, room_b;
  const int64_t width = std::max<int64_t>({1, copies_a ? c.rows() : 0, copies_b ? c.cols() : 0});
  const int64_t rows = std::max<int64_t>(64, cached / width), parts = (K + rows - 1) / rows;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t from = K * part / parts, count = K * (part + 1) / parts - from;
    const Tensor of_a = transpose_a == Transpose::yes ? a.row_range(from, count) : a.columns(from, count);
    const Tensor of_b = transpose_b == Transpose::yes ? b.columns(from, count) : b.row_range(from, count);
    product(c, copies_a ? copied(of_a, room_a) : of_a, transpose_a, copies_b ? copied(of_b, room_b) : of_b, transpose_b,
            part > 0 ? Accumulate::yes : mode, count);
  }
}

}  // namespace

void gemm(const Tensor& c, const Tensor& a, Transpose transpose_a, const Tensor& b, Transpose transpose_b,
          Accumulate mode) {
  const int64_t M = c.rows(), N = c.cols(), K = transpose_a == Transpose::yes ? a.rows() : a.cols();
  if (M == 0 || N == 0) return;
  if (K == 0) {
    for (int64_t m = 0; mode == Accumulate::no && m < M; ++m) std::fill_n(c.view<float>().row(m), N, 0.0f);
    return;
  }
  if (a.dtype() == DType::bf16 && !has_bfloat16())
    return product_of_copies(c, a, transpose_a, b, transpose_b, mode, K, true, true);
  if ((crowds(a) || crowds(b)) && goes_down_columns(c, transpose_b)) {
    const bool spreads_a = transpose_a == Transpose::yes && crowds(a) && worth_a_copy(N, M);
    return product_of_copies(c, a, transpose_a, b, transpose_b, mode, K, spreads_a, crowds(b) && worth_a_copy(M, N));
  }
  product(c, a, transpose_a, b, transpose_b, mode, K);
}

// Threads split the longer side of dw, so that they share as few reads as possible.
void gemm_over_rows(const Tensor& dw, const Tensor& dy, const Tensor& x, Accumulate mode) {
  if (dw.rows() >= dw.cols()) {
    parallel_blocks(dw.rows(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      gemm(dw.row_range(r.begin, count), dy.columns(r.begin, count), Transpose::yes, x, Transpose::no, mode);
    });
  } else {
    parallel_blocks(dw.cols(), 16, [&](Range r, int) {
      const int64_t count = r.end - r.begin;
      gemm(dw.columns(r.begin, count), dy, Transpose::yes, x.columns(r.begin, count), Transpose::no, mode);
    });
  }
}

}  // namespace dragoman::cpu
