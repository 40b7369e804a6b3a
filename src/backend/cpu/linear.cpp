#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear.cpp"
#include <hwy/foreach_target.h>
//
#include <vector>

#include "backend/cpu/families.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/simd-inl.h"
#include "backend/products.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// y = or += act(z + b) in 16 bits
void FinishHalf(const Tensor& y, View<const float> z, const Tensor& b, Activation act, bool adds) {
  const F32 d;
  const auto Y = ViewOf<AnyView>(y);
  const AnyRow bias = ViewOf<AnyView>(b).row(0);
  for (int64_t n = 0; n < z.rows; ++n)
    for (int64_t c = 0; c < z.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t left = z.cols - c;
      VF v = LoadN(d, z.row(n) + c, left);
      if (b) v = hn::Add(v, LoadN(d, bias + c, left));
      if (act == Activation::relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);  // keeps NaN
      if (adds) v = hn::Add(v, LoadN(d, Y.row(n) + c, left));
      StoreN(v, d, Y.row(n) + c, left);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(FinishHalf);

// Bias and activation over rows that a product has just left in the cache.
void finish_rows(View<float> Y, const float* bias, Activation act) {
  for (int64_t n = 0; n < Y.rows; ++n) {
    float* y = Y.row(n);
    if (bias)
      for (int64_t d = 0; d < Y.cols; ++d) y[d] += bias[d];
    if (act == Activation::relu)
      for (int64_t d = 0; d < Y.cols; ++d) y[d] = std::max(y[d], 0.0f);
  }
}

constexpr int64_t cached = 1 << 17;  // numbers of y that stay in L2 until they are finished

// Calls f(from, count) for blocks of at most `block` rows, on all threads.
template <class F>
void row_blocks(int64_t rows, int64_t block, const F& f) {
  parallel_blocks(rows, 16, [&](Range own, int) {
    for (int64_t from = own.begin; from < own.end; from += block) f(from, std::min(block, own.end - from));
  });
}

// y (bf16) = or += act(x · op(w) + b), rounded only once the sum is complete.
void half_product(const Tensor& y, const Tensor& x, const Tensor& w, Transpose transpose_w, const Tensor& b,
                  Activation act, Accumulate mode) {
  // At most max(512 KiB, 64 bytes per column of y) per thread, which memory plans do not count.
  thread_local std::vector<float> room;
  const auto finish = HWY_DYNAMIC_DISPATCH(FinishHalf);
  row_blocks(y.rows(), std::max<int64_t>(16, cached / std::max<int64_t>(1, y.cols())),
             [&](int64_t from, int64_t count) {
               room.resize(std::max(room.size(), size_t(count * y.cols())));
               const Tensor z = Tensor::borrow(room.data(), {count, y.cols()});
               gemm(z, x.row_range(from, count), Transpose::no, w, transpose_w, Accumulate::no);
               finish(y.row_range(from, count), z.view<const float>(), b, act, mode == Accumulate::yes);
             });
}

void linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear fuses relu only");
  if (y.dtype() == DType::bf16) return half_product(y, x, w, Transpose::yes, b, act, Accumulate::no);
  row_blocks(y.rows(), std::max<int64_t>(256, cached / std::max<int64_t>(1, y.cols())),
             [&](int64_t from, int64_t count) {
               const Tensor part = y.row_range(from, count);
               gemm(part, x.row_range(from, count), Transpose::no, w, Transpose::yes, Accumulate::no);
               if (b || act == Activation::relu) finish_rows(part.view<float>(), b ? b.as<float>() : nullptr, act);
             });
}

void backward_input(Grad dx, const Tensor& dz, const Tensor& w) {
  if (dx.tensor.dtype() == DType::bf16)
    return half_product(dx.tensor, dz, w, Transpose::no, {}, Activation::none, dx.mode);
  parallel_blocks(dz.rows(), 16, [&](Range rows, int) {
    const int64_t count = rows.end - rows.begin;
    gemm(dx.tensor.row_range(rows.begin, count), dz.row_range(rows.begin, count), Transpose::no, w, Transpose::no,
         dx.mode);
  });
}

}  // namespace

void install_linear(ProductKernels& b) {
  b.linear = linear;
  b.linear_backward_input = backward_input;
}

}  // namespace dragoman::cpu
#endif
