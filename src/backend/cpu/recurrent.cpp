#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/recurrent.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/recurrent.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// a_t: the weight of the old average when row t (from 0) is added. `gate` points to a column of a row, or is null.
HWY_INLINE VF Kept(F32 d, const float* gate, int64_t t, int64_t n) {
  return gate ? Sigmoid(LoadN(d, gate, n)) : hn::Set(d, float(t) / float(t + 1));
}

// x + a · (before - x): the next value of the average.
HWY_INLINE VF Moved(VF before, VF x, VF a) { return hn::MulAdd(a, hn::Sub(before, x), x); }

// One vector of columns at a time, so that the running value stays in a register between rows.
void AverageSentence(View<float> C, View<const float> X, View<const float> G, Range rows) {
  const F32 d;
  for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
    VF before = hn::Zero(d);
    for (int64_t n = rows.begin; n < rows.end; ++n) {
      const VF a = Kept(d, G ? G.row(n) + c : nullptr, n - rows.begin, X.cols - c);
      before = Moved(before, LoadN(d, X.row(n) + c, X.cols - c), a);
      StoreN(before, d, C.row(n) + c, X.cols - c);
    }
  }
}

void AverageSentenceBackward(const RecurrentKernels::RunningAverageBackward& b, Range rows) {
  const F32 d;
  const auto DX = b.dx.tensor.view<float>(), DG = b.dgate.tensor.view<float>();
  const auto DC = b.dc.view<const float>(), C = b.c.view<const float>(), X = b.x.view<const float>(),
             G = b.gate.view<const float>();
  for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
    const int64_t k = X.cols - c;
    VF later = hn::Zero(d);
    for (int64_t n = rows.end - 1; n >= rows.begin; --n) {
      const VF a = Kept(d, G ? G.row(n) + c : nullptr, n - rows.begin, k),
               e = hn::Add(LoadN(d, DC.row(n) + c, k), later);
      later = hn::Mul(a, e);
      const VF joins = hn::Sub(e, later);  // (1 - a) · e
      if (DX) StoreGrad(joins, d, DX.row(n) + c, k, b.dx.adds());
      if (!DG) continue;
      const VF before = n > rows.begin ? LoadN(d, C.row(n - 1) + c, k) : hn::Zero(d);
      const VF gap = hn::Sub(before, LoadN(d, X.row(n) + c, k));
      StoreGrad(hn::Mul(hn::Mul(joins, a), gap), d, DG.row(n) + c, k, b.dgate.adds());
    }
  }
}

void AverageStepRows(View<float> C, View<float> S, View<const float> X, View<const float> G, const StepKeys& past,
                     Range rows) {
  const F32 d;
  const auto table = past.table.view<const int32_t>();
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t t = past.length.as<int32_t>()[r] - 1;
    float* state = S.row(table(r, t));
    const float* last = t > 0 ? S.row(table(r, t - 1)) : nullptr;
    for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t k = X.cols - c;
      const VF before = last ? LoadN(d, last + c, k) : hn::Zero(d);
      const VF now = Moved(before, LoadN(d, X.row(r) + c, k), Kept(d, G ? G.row(r) + c : nullptr, t, k));
      StoreN(now, d, state + c, k);
      StoreN(now, d, C.row(r) + c, k);
    }
  }
}

void GateRows(View<float> Y, View<const float> X, View<const float> G, Range rows) {
  const F32 d;
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t k = X.cols - c;
      StoreN(hn::Mul(LoadN(d, X.row(n) + c, k), Sigmoid(LoadN(d, G.row(n) + c, k))), d, Y.row(n) + c, k);
    }
}

void GateBackwardRows(const Grad& dx, const Grad& dgate, View<const float> DY, View<const float> X, View<const float> G,
                      Range rows) {
  const F32 d;
  const auto DX = dx.tensor.view<float>(), DG = dgate.tensor.view<float>();
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < X.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t k = X.cols - c;
      const VF open = Sigmoid(LoadN(d, G.row(n) + c, k)), passed = hn::Mul(LoadN(d, DY.row(n) + c, k), open);
      if (DX) StoreGrad(passed, d, DX.row(n) + c, k, dx.adds());
      const VF slope = hn::NegMulAdd(passed, open, passed);  // dy · σ · (1 - σ)
      if (DG) StoreGrad(hn::Mul(slope, LoadN(d, X.row(n) + c, k)), d, DG.row(n) + c, k, dgate.adds());
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(AverageSentence);
HWY_EXPORT(AverageSentenceBackward);
HWY_EXPORT(AverageStepRows);
HWY_EXPORT(GateRows);
HWY_EXPORT(GateBackwardRows);

void running_average(const Tensor& c, const Tensor& x, const Tensor& gate, const Spans& spans) {
  const auto sentence = HWY_DYNAMIC_DISPATCH(AverageSentence);
  const auto C = c.view<float>();
  const auto X = x.view<const float>(), G = gate.view<const float>();
  parallel_items(spans.sentences(), [&](int64_t s, int) { sentence(C, X, G, spans[int(s)]); });
}

void running_average_backward(const RecurrentKernels::RunningAverageBackward& b) {
  const auto sentence = HWY_DYNAMIC_DISPATCH(AverageSentenceBackward);
  parallel_items(b.spans.sentences(), [&](int64_t s, int) { sentence(b, b.spans[int(s)]); });
}

void running_average_step(const Tensor& c, const Tensor& states, const Tensor& x, const Tensor& gate,
                          const StepKeys& past) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(AverageStepRows);
  const auto C = c.view<float>(), S = states.view<float>();
  const auto X = x.view<const float>(), G = gate.view<const float>();
  parallel_blocks(X.rows, 16, [&](Range rows, int) { rows_of(C, S, X, G, past, rows); });
}

void gate(const Tensor& y, const Tensor& x, const Tensor& gate) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(GateRows);
  const auto Y = y.view<float>();
  const auto X = x.view<const float>(), G = gate.view<const float>();
  parallel_blocks(X.rows, 16, [&](Range rows, int) { rows_of(Y, X, G, rows); });
}

void gate_backward(Grad dx, Grad dgate, const Tensor& dy, const Tensor& x, const Tensor& gate) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(GateBackwardRows);
  const auto DY = dy.view<const float>(), X = x.view<const float>(), G = gate.view<const float>();
  parallel_blocks(X.rows, 16, [&](Range rows, int) { rows_of(dx, dgate, DY, X, G, rows); });
}

}  // namespace

void install_recurrent(RecurrentKernels& b) {
  b.running_average = running_average;
  b.running_average_backward = running_average_backward;
  b.running_average_step = running_average_step;
  b.gate = gate;
  b.gate_backward = gate_backward;
}

}  // namespace dragoman::cpu
#endif
