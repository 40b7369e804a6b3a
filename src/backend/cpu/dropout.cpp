#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/dropout.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/elementwise.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// y (+)= x + mask · r over row n; X may be empty.
template <class V>
HWY_INLINE void MaskedRow(const V& Y, const V& X, const V& R, int64_t row, const Dropout& drop, const Mask& mask,
                          const int32_t* position, bool adds) {
  const F32 d;
  const int64_t L = hn::Lanes(d), cols = R.cols;
  HWY_ALIGN float factors[128];
  std::fill_n(factors, 128, 1.0f);
  for (int64_t from = 0; from < cols; from += 128) {
    if (drop.active()) MaskGroup(mask, position[0], position[1], uint32_t(from / 128), factors);
    const int64_t count = std::min<int64_t>(128, cols - from);
    for (int64_t c = 0; c < count; c += L) {
      const int64_t n = count - c;
      VF v = hn::Mul(hn::LoadU(d, factors + c), LoadN(d, R.row(row) + from + c, n));
      if (X) v = hn::Add(v, LoadN(d, X.row(row) + from + c, n));
      if (adds) v = hn::Add(v, LoadN(d, Y.row(row) + from + c, n));
      StoreN(v, d, Y.row(row) + from + c, n);
    }
  }
}

void MaskedRows(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop, bool adds, Range rows) {
  const Mask mask = MaskOf(drop, drop.op);
  const auto positions = drop.positions.view<int32_t>();
  for_activations(
      [&]<class V>() {
        const V Y = ViewOf<V>(y), X = ViewOf<V>(x), R = ViewOf<V>(r);
        for (int64_t n = rows.begin; n < rows.end; ++n)
          MaskedRow(Y, X, R, n, drop, mask, drop.active() ? positions.row(n) : nullptr, adds);
      },
      y, x, r);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(MaskedRows);

// One pass, 12 bytes per element; the mask is generated in registers and never stored.
void dropout(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(MaskedRows);
  parallel_blocks(y.rows(), 16, [&](Range rows, int) { rows_of(y, x, r, drop, false, rows); });
}

void dropout_backward(Grad dr, const Tensor& dy, const Dropout& drop) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(MaskedRows);
  parallel_blocks(dy.rows(), 16, [&](Range rows, int) { rows_of(dr.tensor, {}, dy, drop, dr.adds(), rows); });
}

}  // namespace

void install_dropout(ElementwiseKernels& b) {
  b.dropout = dropout;
  b.dropout_backward = dropout_backward;
}

}  // namespace dragoman::cpu
#endif
