#include <cmath>

#include "backend/recurrent.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/activation.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Element d of row n: the inputs of a cell's gates.
template <class T>
struct Element {
  View<T> a, s;
  int64_t n, d, D;

  T of_input(int gate) const { return a(n, gate * D + d); }
  T of_state(int gate) const { return s ? s(n, gate * D + d) : T(0); }
  T sum(int gate) const { return of_input(gate) + of_state(gate); }
};

template <class T, class F>
void each_element(const RecurrentKernels::CellStep& step, const F& f) {
  const auto A = step.a.view<T>(), S = step.s.view<T>();
  for (int64_t n = 0; n < step.h.rows(); ++n)
    for (int64_t d = 0; d < step.h.cols(); ++d) f(Element<T>{A, S, n, d, step.h.cols()});
}

template <class T>
T at(View<T> x, int64_t n, int64_t d) {
  return x ? x(n, d) : T(0);
}

template <class T>
void gru(const RecurrentKernels::CellStep& step) {
  const auto H = step.h.view<T>(), before = step.h_before.view<T>();
  each_element<T>(step, [&](const Element<T>& e) {
    const T r = sigmoid(e.sum(0)), u = sigmoid(e.sum(1)), n = std::tanh(e.of_input(2) + r * e.of_state(2));
    H(e.n, e.d) = (1 - u) * n + u * at(before, e.n, e.d);
  });
}

template <class T>
void lstm(const RecurrentKernels::CellStep& step) {
  const auto H = step.h.view<T>(), C = step.c.view<T>(), before = step.c_before.view<T>();
  each_element<T>(step, [&](const Element<T>& e) {
    const T i = sigmoid(e.sum(0)), f = sigmoid(e.sum(1)), g = std::tanh(e.sum(2)), o = sigmoid(e.sum(3));
    const T c = f * at(before, e.n, e.d) + i * g;
    C(e.n, e.d) = c;
    H(e.n, e.d) = o * std::tanh(c);
  });
}

void cell(const RecurrentKernels::CellStep& step) {
  for_dtype(step.h.dtype(), [&]<class T>() { step.cell == Cell::gru ? gru<T>(step) : lstm<T>(step); });
}

// Writes the gradients of the two products of gate `gate`.
template <class T>
void put_gate(const RecurrentKernels::CellBackward& b, const Element<T>& e, int gate, T da, T ds) {
  const int64_t column = gate * e.D + e.d;
  if (b.da) put(b.da.tensor.view<T>()(e.n, column), da, b.da.mode);
  if (b.ds) put(b.ds.tensor.view<T>()(e.n, column), ds, b.ds.mode);
}

template <class T>
void gru_backward(const RecurrentKernels::CellBackward& b) {
  const auto DH = b.dh.view<T>(), before = b.forward.h_before.view<T>(), D_before = b.dh_before.tensor.view<T>();
  each_element<T>(b.forward, [&](const Element<T>& e) {
    const T r = sigmoid(e.sum(0)), u = sigmoid(e.sum(1)), n = std::tanh(e.of_input(2) + r * e.of_state(2));
    const T dh = DH(e.n, e.d), dn = dh * (1 - u) * (1 - n * n);
    const T dr = dn * e.of_state(2) * r * (1 - r), du = dh * (at(before, e.n, e.d) - n) * u * (1 - u);
    put_gate(b, e, 0, dr, dr);
    put_gate(b, e, 1, du, du);
    put_gate(b, e, 2, dn, dn * r);
    if (D_before) put(D_before(e.n, e.d), dh * u, b.dh_before.mode);
  });
}

template <class T>
void lstm_backward(const RecurrentKernels::CellBackward& b) {
  const auto DH = b.dh.view<T>(), DC = b.dc.view<T>(), C = b.forward.c.view<T>(), before = b.forward.c_before.view<T>(),
             D_before = b.dc_before.tensor.view<T>();
  each_element<T>(b.forward, [&](const Element<T>& e) {
    const T i = sigmoid(e.sum(0)), f = sigmoid(e.sum(1)), g = std::tanh(e.sum(2)), o = sigmoid(e.sum(3));
    const T seen = std::tanh(C(e.n, e.d)), dh = DH(e.n, e.d);
    const T dc = at(DC, e.n, e.d) + dh * o * (1 - seen * seen);
    const T gates[] = {dc * g * i * (1 - i), dc * at(before, e.n, e.d) * f * (1 - f), dc * i * (1 - g * g),
                       dh * seen * o * (1 - o)};
    for (int k = 0; k < 4; ++k) put_gate(b, e, k, gates[k], gates[k]);
    if (D_before) put(D_before(e.n, e.d), dc * f, b.dc_before.mode);
  });
}

void cell_backward(const RecurrentKernels::CellBackward& b) {
  for_dtype(b.dh.dtype(), [&]<class T>() { b.forward.cell == Cell::gru ? gru_backward<T>(b) : lstm_backward<T>(b); });
}

}  // namespace

void install_cell(RecurrentKernels& b) {
  b.cell = cell;
  b.cell_backward = cell_backward;
}

}  // namespace dragoman::reference
