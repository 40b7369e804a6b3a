#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/convert.h"
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/elementwise.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// y += factor · x
void AddRows(const Tensor& y, const Tensor& x, float factor, Range rows) {
  const F32 d;
  for_activations(
      [&]<class V>() {
        const V Y = ViewOf<V>(y), X = ViewOf<V>(x);
        for (int64_t n = rows.begin; n < rows.end; ++n)
          for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
            const int64_t left = X.cols - c;
            const auto to = Y.row(n) + c;
            StoreN(hn::MulAdd(hn::Set(d, factor), LoadN(d, X.row(n) + c, left), LoadN(d, to, left)), d, to, left);
          }
      },
      y, x);
}

// y = or += x
void ConvertRows(const Tensor& y, const Tensor& x, Range rows, bool adds) {
  const F32 d;
  const auto Y = ViewOf<AnyView>(y), X = ViewOf<AnyView>(x);
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t left = X.cols - c;
      const VF v = LoadN(d, X.row(n) + c, left);
      StoreN(adds ? hn::Add(v, LoadN(d, Y.row(n) + c, left)) : v, d, Y.row(n) + c, left);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AddRows);
HWY_EXPORT(ConvertRows);

bool is_activation(const Tensor& x) { return x.dtype() == DType::f32 || x.dtype() == DType::bf16; }

void add(const Tensor& y, const Tensor& x, double factor) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(AddRows);
  parallel_blocks(x.rows(), 16, [&](Range rows, int) { rows_of(y, x, float(factor), rows); });
}

void copy(const Tensor& y, const Tensor& x) {
  const auto convert = HWY_DYNAMIC_DISPATCH(ConvertRows);
  parallel_blocks(y.rows(), 16, [&](Range rows, int) {
    if (is_activation(y) && is_activation(x)) return convert(y, x, rows, false);
    for_stored(y.dtype(), [&]<class T>() {
      const auto Y = y.view<T>();
      for_stored(x.dtype(), [&]<class S>() {
        const auto X = x.view<S>();
        for (int64_t n = rows.begin; n < rows.end; ++n)
          std::transform(X.row(n), X.row(n) + Y.cols, Y.row(n), [](const S& v) { return T(v); });
      });
    });
  });
}

void fill(const Tensor& y, double value) {
  for_stored(y.dtype(), [&]<class T>() {
    const auto Y = y.view<T>();
    parallel_blocks(Y.rows, 1, [&](Range rows, int) {
      for (int64_t n = rows.begin; n < rows.end; ++n) std::fill_n(Y.row(n), Y.cols, T(value));
    });
  });
}

}  // namespace

void convert_rows(const Tensor& to, const Tensor& from, Accumulate mode) {
  HWY_DYNAMIC_DISPATCH(ConvertRows)(to, from, {0, from.rows()}, mode == Accumulate::yes);
}

void install_elementwise(ElementwiseKernels& b) {
  b.add = add;
  b.copy = copy;
  b.fill = fill;
}

}  // namespace dragoman::cpu
#endif
