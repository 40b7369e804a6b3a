#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_backward.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/products.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Some columns of one row: writes the result to `half` or `dz` and adds it to `sums`. Absent arguments are null: y
// without relu, dz if dy is unchanged.
void BackwardResultRow(float* dz, bfloat16* half, float* sums, const float* dy, const float* y, int64_t count) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t i = 0; i < count; i += L) {
    const int64_t left = std::min(L, count - i);
    VF g = LoadN(d, dy + i, left);
    if (y) g = hn::IfThenElseZero(hn::Gt(LoadN(d, y + i, left), hn::Zero(d)), g);
    if (sums) StoreN(hn::Add(LoadN(d, sums + i, left), g), d, sums + i, left);
    if (dz) StoreN(g, d, dz + i, left);
    if (!half) continue;
    if (left == L) {
      StoreRounded(g, half + i);
    } else {
      for (int64_t j = i; j < count; ++j) half[j] = bfloat16(!y || y[j] > 0 ? dy[j] : 0.0f);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(BackwardResultRow);

// A thread owns columns, so that db is summed in the order of rows.
void backward_result(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear fuses relu only");
  const auto DY = dy.view<const float>(), Y = act == Activation::relu ? y.view<const float>() : View<const float>{};
  const bool rounds = dz.dtype() == DType::bf16;
  const auto DZ = rounds || (!Y && dz.data() == dy.data()) ? View<float>{} : dz.view<float>();
  const auto HALF = rounds ? dz.view<bfloat16>() : View<bfloat16>{};
  float* const sums = db ? db.tensor.as<float>() : nullptr;
  const auto row = HWY_DYNAMIC_DISPATCH(BackwardResultRow);
  parallel_blocks(DY.cols, 16, [&](Range columns, int) {
    const int64_t first = columns.begin, count = columns.end - first;
    if (sums && !db.adds()) std::fill_n(sums + first, count, 0.0f);
    for (int64_t n = 0; n < DY.rows; ++n)
      row(DZ ? DZ.row(n) + first : nullptr, HALF ? HALF.row(n) + first : nullptr, sums ? sums + first : nullptr,
          DY.row(n) + first, Y ? Y.row(n) + first : nullptr, count);
  });
}

}  // namespace

void install_linear_backward(ProductKernels& b) { b.linear_backward_result = backward_result; }

}  // namespace dragoman::cpu
#endif
