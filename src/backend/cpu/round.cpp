#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/round.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/elementwise.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

void RoundRow(bfloat16* y, const float* x, int64_t count) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  int64_t i = 0;
  for (; i + L <= count; i += L) StoreRounded(hn::LoadU(d, x + i), y + i);
  for (; i < count; ++i) y[i] = bfloat16(x[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {

HWY_EXPORT(RoundRow);

void install_round(ElementwiseKernels& b) {
  b.round = [](const Tensor& y, const Tensor& x) {
    const auto Y = y.view<bfloat16>();
    const auto X = x.view<const float>();
    const auto row = HWY_DYNAMIC_DISPATCH(RoundRow);
    parallel_blocks(X.rows, 16, [&](Range rows, int) {
      for (int64_t n = rows.begin; n < rows.end; ++n) row(Y.row(n), X.row(n), X.cols);
    });
  };
}

}  // namespace dragoman::cpu
#endif
