#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"
#include "backend/cuda/sigmoid.cuh"

namespace dragoman::cuda {
namespace {

// How much of the average so far is kept when row t of a sentence is added, t counted from 0.
__device__ float kept(View<const float> gate, int64_t row, int64_t column, int64_t t) {
  return gate ? sigmoid(gate(row, column)) : float(t) / float(t + 1);
}

// c_t = a_t · c_{t-1} + (1 - a_t) · x_t
void running_average(const Tensor& c, const Tensor& x, const Tensor& gate, const Spans& spans) {
  const auto C = view<float>(c);
  const auto X = view<const float>(x), G = view<const float>(gate);
  const int32_t* offsets = integers(spans.offsets());
  each_element(spans.sentences(), X.cols, [=] __device__(int64_t s, int64_t d) {
    float before = 0;
    for (int64_t n = offsets[s]; n < offsets[s + 1]; ++n) {
      const float a = kept(G, n, d, n - offsets[s]);
      before = C(n, d) = a * before + (1 - a) * X(n, d);
    }
  });
}

// With e_t = dc_t + a_{t+1} · e_{t+1}:  dx_t = (1 - a_t) · e_t,  dgate_t = e_t · (c_{t-1} - x_t) · a_t · (1 - a_t)
void running_average_backward(const Backend::RunningAverageBackward& b) {
  const Put DX(b.dx), DG(b.dgate);
  const auto DC = view<const float>(b.dc), C = view<const float>(b.c), X = view<const float>(b.x),
             G = view<const float>(b.gate);
  const int32_t* offsets = integers(b.spans.offsets());
  each_element(b.spans.sentences(), X.cols, [=] __device__(int64_t s, int64_t d) {
    float later = 0;
    for (int64_t n = offsets[s + 1] - 1; n >= offsets[s]; --n) {
      const float a = kept(G, n, d, n - offsets[s]), e = DC(n, d) + later;
      const float before = n > offsets[s] ? C(n - 1, d) : 0.f;
      DX(n, d, (1 - a) * e);
      DG(n, d, e * (before - X(n, d)) * a * (1 - a));
      later = a * e;
    }
  });
}

void running_average_step(const Tensor& c, const Tensor& states, const Tensor& x, const Tensor& gate,
                          const StepKeys& past) {
  const auto C = view<float>(c), S = view<float>(states);
  const auto X = view<const float>(x), G = view<const float>(gate);
  const auto table = view<const int32_t>(past.table);
  const int32_t* length = integers(past.length);
  each_element(X.rows, X.cols, [=] __device__(int64_t r, int64_t d) {
    const int64_t t = length[r] - 1;
    const float a = kept(G, r, d, t), before = t > 0 ? S(table(r, t - 1), d) : 0.f;
    S(table(r, t), d) = C(r, d) = a * before + (1 - a) * X(r, d);
  });
}

// y = x · σ(gate)
void gate(const Tensor& y, const Tensor& x, const Tensor& gate) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x), G = view<const float>(gate);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) { Y(n, d) = X(n, d) * sigmoid(G(n, d)); });
}

// dx = dy · σ,  dgate = dy · x · σ · (1 - σ)
void gate_backward(Grad dx, Grad dgate, const Tensor& dy, const Tensor& x, const Tensor& gate) {
  const Put DX(dx), DG(dgate);
  const auto DY = view<const float>(dy), X = view<const float>(x), G = view<const float>(gate);
  each_element(X.rows, X.cols, [=] __device__(int64_t n, int64_t d) {
    const float open = sigmoid(G(n, d));
    DX(n, d, DY(n, d) * open);
    DG(n, d, DY(n, d) * X(n, d) * open * (1 - open));
  });
}

}  // namespace

void install_recurrent(Backend& b) {
  b.running_average = running_average;
  b.running_average_backward = running_average_backward;
  b.running_average_step = running_average_step;
  b.gate = gate;
  b.gate_backward = gate_backward;
}

}  // namespace dragoman::cuda
