#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_backward.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/simd-inl.h"
#include "backend/products.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Some columns of some rows: dz = dy, 0 where y <= 0, and its column sums. Absent are: y without relu, dz if it is dy
// unchanged, sums.
template <class V>
void BackwardResultOf(const V& DZ, float* sums, const V& DY, const V& Y, Range columns) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  for (int64_t n = 0; n < DY.rows; ++n)
    for (int64_t i = columns.begin; i < columns.end; i += L) {
      const int64_t left = std::min(L, columns.end - i);
      VF g = LoadN(d, DY.row(n) + i, left);
      if (Y) g = hn::IfThenElseZero(hn::Gt(LoadN(d, Y.row(n) + i, left), hn::Zero(d)), g);
      if (sums) StoreN(hn::Add(LoadN(d, sums + i, left), g), d, sums + i, left);
      if (DZ) StoreN(g, d, DZ.row(n) + i, left);
    }
}

void BackwardResult(const Tensor& dz, float* sums, const Tensor& dy, const Tensor& y, Range columns) {
  for_activations([&]<class V>() { BackwardResultOf(ViewOf<V>(dz), sums, ViewOf<V>(dy), ViewOf<V>(y), columns); }, dz,
                  dy, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(BackwardResult);

// A thread owns columns, so that db is summed in the order of rows.
void backward_result(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear fuses relu only");
  const Tensor relu = act == Activation::relu ? y : Tensor();
  float* const sums = db ? db.tensor.as<float>() : nullptr;
  const auto result = HWY_DYNAMIC_DISPATCH(BackwardResult);
  parallel_blocks(dy.cols(), 16, [&](Range columns, int) {
    if (sums && !db.adds()) std::fill(sums + columns.begin, sums + columns.end, 0.0f);
    result(dz, sums, dy, relu, columns);
  });
}

void backward_weight(Grad dw, Grad db, const Tensor& dz, const Tensor& x) {
  if (db) backward_result({}, db, dz, {}, Activation::none);
  if (dw) gemm_over_rows(dw.tensor, dz, x, dw.mode);
}

}  // namespace

void install_linear_backward(ProductKernels& b) {
  b.linear_backward_result = backward_result;
  b.linear_backward_weight = backward_weight;
}

}  // namespace dragoman::cpu
#endif
