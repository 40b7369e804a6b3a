#include <cmath>

#include "backend/recurrent.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/activation.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// a_t: the factor of the previous average when row t of a sentence is added, t counted from 0.
template <class T>
T kept(View<T> gate, int64_t row, int64_t column, int64_t t) {
  return gate ? sigmoid(gate(row, column)) : T(t) / T(t + 1);
}

// c_t = a_t · c_{t-1} + (1 - a_t) · x_t.  c, x, gate (N,D), gate may be empty
void running_average(const Tensor& c, const Tensor& x, const Tensor& gate, const Spans& spans) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto C = c.view<T>(), X = x.view<T>(), G = gate.view<T>();
    for (int s = 0; s < spans.sentences(); ++s)
      for (int64_t d = 0; d < X.cols; ++d) {
        T before = 0;
        for (int64_t n = spans[s].begin; n < spans[s].end; ++n) {
          const T a = kept(G, n, d, n - spans[s].begin);
          before = C(n, d) = a * before + (1 - a) * X(n, d);
        }
      }
  });
}

// With e_t = dc_t + a_{t+1} · e_{t+1}, the total gradient of c_t:  dx_t = (1 - a_t) · e_t,
// dgate_t = e_t · (c_{t-1} - x_t) · a_t · (1 - a_t).
template <class T>
void average_backward(const RecurrentKernels::RunningAverageBackward& b) {
  const auto DX = b.dx.tensor.view<T>(), DG = b.dgate.tensor.view<T>(), DC = b.dc.view<T>(), C = b.c.view<T>(),
             X = b.x.view<T>(), G = b.gate.view<T>();
  for (int s = 0; s < b.spans.sentences(); ++s) {
    const Range rows = b.spans[s];
    for (int64_t d = 0; d < X.cols; ++d) {
      T later = 0;  // a_{t+1} · e_{t+1}
      for (int64_t n = rows.end - 1; n >= rows.begin; --n) {
        const T a = kept(G, n, d, n - rows.begin), e = DC(n, d) + later;
        const T before = n > rows.begin ? C(n - 1, d) : T(0);
        if (DX) put(DX(n, d), (1 - a) * e, b.dx.mode);
        if (DG) put(DG(n, d), e * (before - X(n, d)) * a * (1 - a), b.dgate.mode);
        later = a * e;
      }
    }
  }
}

void running_average_backward(const RecurrentKernels::RunningAverageBackward& b) {
  for_dtype(b.dc.dtype(), [&]<class T>() { average_backward<T>(b); });
}

void running_average_step(const Tensor& c, const Tensor& states, const Tensor& x, const Tensor& gate,
                          const StepKeys& past) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto C = c.view<T>(), S = states.view<T>(), X = x.view<T>(), G = gate.view<T>();
    const auto table = past.table.view<int32_t>();
    for (int64_t r = 0; r < X.rows; ++r) {
      const int64_t t = past.length.as<int32_t>()[r] - 1;
      for (int64_t d = 0; d < X.cols; ++d) {
        const T a = kept(G, r, d, t), before = t > 0 ? S(table(r, t - 1), d) : T(0);
        S(table(r, t), d) = C(r, d) = a * before + (1 - a) * X(r, d);
      }
    }
  });
}

// y = x · σ(gate)
void gate(const Tensor& y, const Tensor& x, const Tensor& gate) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto Y = y.view<T>(), X = x.view<T>(), G = gate.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) Y(n, d) = X(n, d) * sigmoid(G(n, d));
  });
}

// dx = dy · σ,  dgate = dy · x · σ · (1 - σ)
void gate_backward(Grad dx, Grad dgate, const Tensor& dy, const Tensor& x, const Tensor& gate) {
  for_dtype(x.dtype(), [&]<class T>() {
    const auto DX = dx.tensor.view<T>(), DG = dgate.tensor.view<T>(), DY = dy.view<T>(), X = x.view<T>(),
               G = gate.view<T>();
    for (int64_t n = 0; n < X.rows; ++n)
      for (int64_t d = 0; d < X.cols; ++d) {
        const T open = sigmoid(G(n, d));
        if (DX) put(DX(n, d), DY(n, d) * open, dx.mode);
        if (DG) put(DG(n, d), DY(n, d) * X(n, d) * open * (1 - open), dgate.mode);
      }
  });
}

}  // namespace

void install_recurrent(RecurrentKernels& b) {
  b.running_average = running_average;
  b.running_average_backward = running_average_backward;
  b.running_average_step = running_average_step;
  b.gate = gate;
  b.gate_backward = gate_backward;
}

}  // namespace dragoman::reference
