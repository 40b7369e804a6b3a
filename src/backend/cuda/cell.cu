#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"
#include "backend/cuda/sigmoid.cuh"

namespace dragoman::cuda {
namespace {

/// Inputs of a cell's gates (backend/cell.h).
struct Gates {
  View<const float> a, s, h_before, c_before;
  int64_t D;

  explicit Gates(const Backend::CellStep& step)
      : a(view<const float>(step.a)),
        s(view<const float>(step.s)),
        h_before(view<const float>(step.h_before)),
        c_before(view<const float>(step.c_before)),
        D(step.h.cols()) {}
  __device__ float of_input(int64_t n, int64_t d, int gate) const { return a(n, gate * D + d); }
  __device__ float of_state(int64_t n, int64_t d, int gate) const { return s ? s(n, gate * D + d) : 0.f; }
  __device__ float sum(int64_t n, int64_t d, int gate) const { return of_input(n, d, gate) + of_state(n, d, gate); }
  __device__ float h(int64_t n, int64_t d) const { return h_before ? h_before(n, d) : 0.f; }
  __device__ float c(int64_t n, int64_t d) const { return c_before ? c_before(n, d) : 0.f; }
};

struct Gru {
  float r, u, n;
  __device__ Gru(const Gates& g, int64_t row, int64_t d) {
    r = sigmoid(g.sum(row, d, 0));
    u = sigmoid(g.sum(row, d, 1));
    n = tanhf(g.of_input(row, d, 2) + r * g.of_state(row, d, 2));
  }
};

struct Lstm {
  float i, f, g, o;
  __device__ Lstm(const Gates& gates, int64_t row, int64_t d) {
    i = sigmoid(gates.sum(row, d, 0));
    f = sigmoid(gates.sum(row, d, 1));
    g = tanhf(gates.sum(row, d, 2));
    o = sigmoid(gates.sum(row, d, 3));
  }
};

void gru(const Backend::CellStep& step) {
  const Gates gates(step);
  const auto H = view<float>(step.h);
  each_element(H.rows, H.cols, [=] __device__(int64_t n, int64_t d) {
    const Gru g(gates, n, d);
    H(n, d) = (1 - g.u) * g.n + g.u * gates.h(n, d);
  });
}

void lstm(const Backend::CellStep& step) {
  const Gates gates(step);
  const auto H = view<float>(step.h), C = view<float>(step.c);
  each_element(H.rows, H.cols, [=] __device__(int64_t n, int64_t d) {
    const Lstm l(gates, n, d);
    const float c = C(n, d) = l.f * gates.c(n, d) + l.i * l.g;
    H(n, d) = l.o * tanhf(c);
  });
}

void gru_backward(const Backend::CellBackward& b) {
  const Gates gates(b.forward);
  const Put da(b.da), ds(b.ds), dh_before(b.dh_before);
  const auto DH = view<const float>(b.dh);
  each_element(DH.rows, DH.cols, [=] __device__(int64_t n, int64_t d) {
    const Gru g(gates, n, d);
    const float dh = DH(n, d), dn = dh * (1 - g.u) * (1 - g.n * g.n);
    const float dr = dn * gates.of_state(n, d, 2) * g.r * (1 - g.r), du = dh * (gates.h(n, d) - g.n) * g.u * (1 - g.u);
    const float of_input[] = {dr, du, dn}, of_state[] = {dr, du, dn * g.r};
    for (int k = 0; k < 3; ++k) {
      da(n, k * gates.D + d, of_input[k]);
      ds(n, k * gates.D + d, of_state[k]);
    }
    dh_before(n, d, dh * g.u);
  });
}

void lstm_backward(const Backend::CellBackward& b) {
  const Gates gates(b.forward);
  const Put da(b.da), ds(b.ds), dc_before(b.dc_before);
  const auto DH = view<const float>(b.dh), DC = view<const float>(b.dc), C = view<const float>(b.forward.c);
  each_element(DH.rows, DH.cols, [=] __device__(int64_t n, int64_t d) {
    const Lstm l(gates, n, d);
    const float seen = tanhf(C(n, d)), dh = DH(n, d);
    const float dc = (DC ? DC(n, d) : 0.f) + dh * l.o * (1 - seen * seen);
    const float of_gates[] = {dc * l.g * l.i * (1 - l.i), dc * gates.c(n, d) * l.f * (1 - l.f),
                              dc * l.i * (1 - l.g * l.g), dh * seen * l.o * (1 - l.o)};
    for (int k = 0; k < 4; ++k) {
      da(n, k * gates.D + d, of_gates[k]);
      ds(n, k * gates.D + d, of_gates[k]);
    }
    dc_before(n, d, dc * l.f);
  });
}

}  // namespace

void install_cell(Backend& b) {
  b.cell = [](const Backend::CellStep& step) { step.cell == Cell::gru ? gru(step) : lstm(step); };
  b.cell_backward = [](const Backend::CellBackward& back) {
    back.forward.cell == Cell::gru ? gru_backward(back) : lstm_backward(back);
  };
}

}  // namespace dragoman::cuda
