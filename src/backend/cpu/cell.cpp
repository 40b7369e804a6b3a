#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/cell.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/recurrent.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// σ'(x) and tanh'(x) from the function's value, times g.
HWY_INLINE VF ThroughSigmoid(VF g, VF y) { return hn::Mul(g, hn::NegMulAdd(y, y, y)); }
HWY_INLINE VF ThroughTanh(VF g, VF y) { return hn::NegMulAdd(hn::Mul(g, y), y, g); }

// A vector of columns of one row: the inputs of a cell's gates.
struct Columns {
  const float *a, *s;  // the row's products; s may be null
  int64_t column, D;   // of D columns
  int64_t count() const { return D - column; }

  HWY_INLINE VF OfInput(F32 d, int gate) const { return LoadN(d, a + gate * D + column, count()); }
  HWY_INLINE VF OfState(F32 d, int gate) const { return s ? LoadN(d, s + gate * D + column, count()) : hn::Zero(d); }
  HWY_INLINE VF SumOf(F32 d, int gate) const { return hn::Add(OfInput(d, gate), OfState(d, gate)); }
};

template <class F>
HWY_INLINE void EachColumns(const RecurrentKernels::CellStep& step, Range rows, const F& f) {
  const F32 d;
  const auto A = step.a.view<const float>(), S = step.s.view<const float>();
  const int64_t D = step.h.cols();
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < D; c += int64_t(hn::Lanes(d))) f(n, Columns{A.row(n), S ? S.row(n) : nullptr, c, D});
}

HWY_INLINE VF At(F32 d, View<const float> x, int64_t n, const Columns& at) {
  return x ? LoadN(d, x.row(n) + at.column, at.count()) : hn::Zero(d);
}

HWY_INLINE void Put(VF v, F32 d, const Grad& grad, int64_t n, int64_t column, int64_t count) {
  if (!grad) return;
  StoreGrad(v, d, grad.tensor.view<float>().row(n) + column, count, grad.adds());
}

struct Gru {
  VF r, u, n, state;  // state: s_n
  HWY_INLINE Gru(F32 d, const Columns& at)
      : r(Sigmoid(at.SumOf(d, 0))), u(Sigmoid(at.SumOf(d, 1))), state(at.OfState(d, 2)) {
    n = Tanh(hn::MulAdd(r, state, at.OfInput(d, 2)));
  }
};

struct Lstm {
  VF i, f, g, o;
  HWY_INLINE Lstm(F32 d, const Columns& at)
      : i(Sigmoid(at.SumOf(d, 0))), f(Sigmoid(at.SumOf(d, 1))), g(Tanh(at.SumOf(d, 2))), o(Sigmoid(at.SumOf(d, 3))) {}
};

void GruRows(const RecurrentKernels::CellStep& step, Range rows) {
  const F32 d;
  const auto H = step.h.view<float>();
  const auto before = step.h_before.view<const float>();
  EachColumns(step, rows, [&](int64_t n, const Columns& at) HWY_ATTR {
    const Gru g(d, at);  // n + u · (before - n)
    StoreN(hn::MulAdd(g.u, hn::Sub(At(d, before, n, at), g.n), g.n), d, H.row(n) + at.column, at.count());
  });
}

void LstmRows(const RecurrentKernels::CellStep& step, Range rows) {
  const F32 d;
  const auto H = step.h.view<float>(), C = step.c.view<float>();
  const auto before = step.c_before.view<const float>();
  EachColumns(step, rows, [&](int64_t n, const Columns& at) HWY_ATTR {
    const Lstm g(d, at);
    const VF c = hn::MulAdd(g.f, At(d, before, n, at), hn::Mul(g.i, g.g));
    StoreN(c, d, C.row(n) + at.column, at.count());
    StoreN(hn::Mul(g.o, Tanh(c)), d, H.row(n) + at.column, at.count());
  });
}

void GruBackwardRows(const RecurrentKernels::CellBackward& b, Range rows) {
  const F32 d;
  const auto DH = b.dh.view<const float>(), before = b.forward.h_before.view<const float>();
  EachColumns(b.forward, rows, [&](int64_t n, const Columns& at) HWY_ATTR {
    const Gru g(d, at);
    const VF dh = At(d, DH, n, at), kept = hn::Mul(dh, g.u);
    const VF dn = ThroughTanh(hn::Sub(dh, kept), g.n);
    const VF dr = ThroughSigmoid(hn::Mul(dn, g.state), g.r);
    const VF du = ThroughSigmoid(hn::Mul(dh, hn::Sub(At(d, before, n, at), g.n)), g.u);
    const auto put = [&](int gate, VF da, VF ds) HWY_ATTR {
      Put(da, d, b.da, n, gate * at.D + at.column, at.count());
      Put(ds, d, b.ds, n, gate * at.D + at.column, at.count());
    };
    put(0, dr, dr);
    put(1, du, du);
    put(2, dn, hn::Mul(dn, g.r));
    Put(kept, d, b.dh_before, n, at.column, at.count());
  });
}

void LstmBackwardRows(const RecurrentKernels::CellBackward& b, Range rows) {
  const F32 d;
  const auto DH = b.dh.view<const float>(), DC = b.dc.view<const float>(), C = b.forward.c.view<const float>(),
             before = b.forward.c_before.view<const float>();
  EachColumns(b.forward, rows, [&](int64_t n, const Columns& at) HWY_ATTR {
    const Lstm g(d, at);
    const VF dh = At(d, DH, n, at), seen = Tanh(At(d, C, n, at));
    const VF dc = hn::Add(At(d, DC, n, at), ThroughTanh(hn::Mul(dh, g.o), seen));
    const auto put = [&](int gate, VF v) HWY_ATTR {
      Put(v, d, b.da, n, gate * at.D + at.column, at.count());
      Put(v, d, b.ds, n, gate * at.D + at.column, at.count());
    };
    put(0, ThroughSigmoid(hn::Mul(dc, g.g), g.i));
    put(1, ThroughSigmoid(hn::Mul(dc, At(d, before, n, at)), g.f));
    put(2, ThroughTanh(hn::Mul(dc, g.i), g.g));
    put(3, ThroughSigmoid(hn::Mul(dh, seen), g.o));
    Put(hn::Mul(dc, g.f), d, b.dc_before, n, at.column, at.count());
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(GruRows);
HWY_EXPORT(LstmRows);
HWY_EXPORT(GruBackwardRows);
HWY_EXPORT(LstmBackwardRows);

void cell(const RecurrentKernels::CellStep& step) {
  const auto rows_of = step.cell == Cell::gru ? HWY_DYNAMIC_DISPATCH(GruRows) : HWY_DYNAMIC_DISPATCH(LstmRows);
  parallel_blocks(step.h.rows(), 8, [&](Range rows, int) { rows_of(step, rows); });
}

void cell_backward(const RecurrentKernels::CellBackward& b) {
  const bool gru = b.forward.cell == Cell::gru;
  const auto rows_of = gru ? HWY_DYNAMIC_DISPATCH(GruBackwardRows) : HWY_DYNAMIC_DISPATCH(LstmBackwardRows);
  parallel_blocks(b.dh.rows(), 8, [&](Range rows, int) { rows_of(b, rows); });
}

}  // namespace

void install_cell(RecurrentKernels& b) {
  b.cell = cell;
  b.cell_backward = cell_backward;
}

}  // namespace dragoman::cpu
#endif
