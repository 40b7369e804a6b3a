#include <cmath>

#include "backend/attention.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Luong et al. 2015, equation 10, with σ = window / 2.
template <class T>
T variance(int window) {
  return T(window) * T(window) / 4;
}
template <class T>
bool reaches(int window, T distance) {
  return std::abs(distance) <= T(window);
}

void gaussian_window(const AttentionKernels::GaussianWindow& g) {
  for_dtype(g.x.dtype(), [&]<class T>() {
    const auto Y = g.y.view<T>(), X = g.x.view<T>(), bias = g.bias.view<T>(), centers = g.centers.view<T>();
    T* const factors = g.factors.as<T>();
    const int64_t middle = (bias.cols - 1) / 2;
    for (int s = 0; s < g.spans.sentences(); ++s) {
      for (int64_t c = 0; c < bias.cols; ++c)
        bias(s, c) = reaches(g.window, T(c - middle) - centers(s, 0)) ? T(0) : T(g.hidden);
      for (int64_t n = g.spans[s].begin; n < g.spans[s].end; ++n) {
        const T distance = T(n - g.spans[s].begin) - centers(s, 0);
        factors[n] = reaches(g.window, distance) ? std::exp(-distance * distance / (2 * variance<T>(g.window))) : T(0);
        for (int64_t d = 0; d < X.cols; ++d) Y(n, d) = factors[n] * X(n, d);
      }
    }
  });
}

// dx_j = g_j dy_j;  dc = Σ_j (dy_j · x_j) g_j (j - c) / σ².
void gaussian_window_backward(const AttentionKernels::GaussianWindowBackward& b) {
  for_dtype(b.dy.dtype(), [&]<class T>() {
    const auto DX = b.dx.tensor.view<T>(), DC = b.dcenters.tensor.view<T>();
    const auto DY = b.dy.view<T>(), X = b.x.view<T>(), centers = b.centers.view<T>();
    const T* const factors = b.factors.as<T>();
    for (int s = 0; s < b.spans.sentences(); ++s) {
      T dc = 0;
      for (int64_t n = b.spans[s].begin; n < b.spans[s].end; ++n) {
        T product = 0;
        for (int64_t d = 0; DC && d < X.cols; ++d) product += DY(n, d) * X(n, d);
        dc += product * factors[n] * (T(n - b.spans[s].begin) - centers(s, 0)) / variance<T>(b.window);
        for (int64_t d = 0; DX && d < X.cols; ++d) put(DX(n, d), factors[n] * DY(n, d), b.dx.mode);
      }
      if (DC) put(DC(s, 0), dc, b.dcenters.mode);
    }
  });
}

}  // namespace

void install_local_attention(AttentionKernels& b) {
  b.gaussian_window = gaussian_window;
  b.gaussian_window_backward = gaussian_window_backward;
}

}  // namespace dragoman::reference
