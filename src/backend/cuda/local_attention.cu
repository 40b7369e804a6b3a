#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

__device__ bool reaches(float window, float distance) { return fabsf(distance) <= window; }

void gaussian_window(const Backend::GaussianWindow& g) {
  const auto Y = view<float>(g.y), bias = view<float>(g.bias);
  const auto X = view<const float>(g.x), centers = view<const float>(g.centers);
  float* factors = view<float>(g.factors).data;
  const int32_t* offsets = integers(g.spans.offsets());
  const auto window = float(g.window);
  constexpr auto hidden = float(Backend::GaussianWindow::hidden);
  const int64_t middle = (bias.cols - 1) / 2;
  each_element(bias.rows, bias.cols, [=] __device__(int64_t s, int64_t column) {
    bias(s, column) = reaches(window, float(column - middle) - centers(s, 0)) ? 0.f : hidden;
  });
  each_element(g.spans.sentences(), X.cols, [=] __device__(int64_t s, int64_t d) {
    for (int64_t n = offsets[s]; n < offsets[s + 1]; ++n) {
      const float distance = float(n - offsets[s]) - centers(s, 0);
      const float factor = reaches(window, distance) ? expf(-2 * distance * distance / (window * window)) : 0.f;
      if (d == 0) factors[n] = factor;
      Y(n, d) = factor * X(n, d);
    }
  });
}

// One thread sums a sentence's rows, in order.
void gaussian_window_backward(const Backend::GaussianWindowBackward& b) {
  const Put DX(b.dx), DC(b.dcenters);
  const auto DY = view<const float>(b.dy), X = view<const float>(b.x), centers = view<const float>(b.centers);
  const float* factors = view<const float>(b.factors).data;
  const int32_t* offsets = integers(b.spans.offsets());
  const auto window = float(b.window);
  each_element(DY.rows, DY.cols, [=] __device__(int64_t n, int64_t d) { DX(n, d, factors[n] * DY(n, d)); });
  if (!b.dcenters) return;
  each_element(b.spans.sentences(), 1, [=] __device__(int64_t s, int64_t) {
    float dc = 0;
    for (int64_t n = offsets[s]; n < offsets[s + 1]; ++n) {
      float product = 0;
      for (int64_t d = 0; d < X.cols; ++d) product += DY(n, d) * X(n, d);
      dc += product * factors[n] * (float(n - offsets[s]) - centers(s, 0)) * 4 / (window * window);
    }
    DC(s, 0, dc);
  });
}

}  // namespace

void install_local_attention(Backend& b) {
  b.gaussian_window = gaussian_window;
  b.gaussian_window_backward = gaussian_window_backward;
}

}  // namespace dragoman::cuda
