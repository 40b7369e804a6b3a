#include "ops/local_attention.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {

GaussianWindow gaussian_window(Context& cx, const Var& stored, const Var& stored_centers, const Spans& spans,
                               int window) {
  const Var v = widened(cx, stored), centers = widened(cx, stored_centers);
  require(v.shape().rank() == 2 && v.rows() == spans.rows(), "gaussian_window: v is {}, but the spans hold {} rows",
          v.shape(), spans.rows());
  require(centers.shape() == Shape({spans.sentences(), 1}), "gaussian_window: centers is {}, expected {}",
          centers.shape(), Shape({spans.sentences(), 1}));
  require(window > 0, "gaussian_window: window is ±{}, expected at least 1", window);
  GaussianWindow out{cx.make(v.shape(), v.dtype(), {v, centers}), cx.save({v.rows()}, v.dtype()),
                     cx.save({spans.sentences(), 2 * int64_t{spans.longest()} + 1}, v.dtype())};
  cx.backend.gaussian_window(Backend::GaussianWindow{out.values, out.factors, out.bias, v, centers, spans, window});
  cx.record("gaussian_window", out.values, [=, factors = out.factors](Backward& b) {
    b.backend.gaussian_window_backward(
        Backend::GaussianWindowBackward{b.grad(v), b.grad(centers), b.grad_out(), factors, v, centers, spans, window});
  });
  return out;
}

}  // namespace dragoman
