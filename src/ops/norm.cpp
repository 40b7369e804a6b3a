#include "ops/norm.h"

#include "backend/backend.h"
#include "ops/dropout.h"
#include "ops/linear.h"

namespace dragoman {
namespace {

void check(const char* op, const Var& x, const Var& gamma, const Var& beta) {
  require(x.shape().rank() == 2, "{}: x is {}, expected (N,D)", op, x.shape());
  require(gamma.shape() == Shape{x.cols()}, "{}: gamma is {}, expected {}", op, gamma.shape(), Shape{x.cols()});
  require(!beta || beta.shape() == Shape{x.cols()}, "{}: beta is {}, expected {}", op, beta.shape(), Shape{x.cols()});
}

}  // namespace

Var layer_norm(Context& cx, const Var& x, const Var& gamma, const Var& beta, double eps) {
  check("layer_norm", x, gamma, beta);
  const DType stat = stat_type(x.dtype());
  Var y = cx.make(x.shape(), cx.activation_type(gamma.dtype()), {x, gamma, beta}, gamma.dtype());
  const Tensor mean = cx.save({x.rows()}, stat), rstd = cx.save({x.rows()}, stat);
  cx.backend.layer_norm(y, mean, rstd, x, gamma, beta, eps);
  cx.record("layer_norm", y, [=](Backward& b) {
    const Tensor scratch = b.scratch(b.backend.norm_scratch(x.cols()));
    b.backend.norm_backward(Backend::NormBackward{.dx = b.grad(x),
                                                  .dgamma = b.grad(gamma),
                                                  .dbeta = beta ? b.grad(beta) : Grad{},
                                                  .dy = b.grad_out(),
                                                  .sum = x,
                                                  .mean = mean,
                                                  .rstd = rstd,
                                                  .gamma = gamma,
                                                  .scratch = scratch,
                                                  .centred = bool(beta)});
  });
  return y;
}

Var head_norm(Context& cx, const Var& stored, const Var& gamma, const Var& beta, int heads, double eps) {
  const Var x = widened(cx, stored);
  const int64_t N = x.rows(), K = gamma.cols();
  require(x.shape() == Shape({N, heads * K}) && gamma.shape() == Shape{K} && (!beta || beta.shape() == Shape{K}),
          "head_norm: x is {}, gamma {} and beta {}, expected (N,H*K), (K) and (K) with H = {}", x.shape(),
          gamma.shape(), beta.shape(), heads);
  Var y = cx.make(x.shape(), x.dtype(), {x, gamma, beta});
  const DType stat = stat_type(x.dtype());
  const Tensor mean = cx.save({heads * N}, stat), rstd = cx.save({heads * N}, stat);
  for (int h = 0; h < heads; ++h)
    cx.backend.layer_norm(y.value().columns(h * K, K), mean.row_range(h * N, N), rstd.row_range(h * N, N),
                          x.value().columns(h * K, K), gamma, beta, eps);
  cx.record("head_norm", y, [=](Backward& b) {
    const Tensor scratch = b.scratch(b.backend.norm_scratch(K));
    const Grad dx = b.grad(x);
    Grad dgamma = b.grad(gamma), dbeta = beta ? b.grad(beta) : Grad{};
    for (int h = 0; h < heads; ++h) {
      b.backend.norm_backward(Backend::NormBackward{.dx = dx ? Grad{dx.tensor.columns(h * K, K), dx.mode} : Grad{},
                                                    .dgamma = dgamma,
                                                    .dbeta = dbeta,
                                                    .dy = b.grad_out().columns(h * K, K),
                                                    .sum = x.value().columns(h * K, K),
                                                    .mean = mean.row_range(h * N, N),
                                                    .rstd = rstd.row_range(h * N, N),
                                                    .gamma = gamma,
                                                    .scratch = scratch,
                                                    .centred = bool(beta)});
      dgamma.mode = dbeta.mode = Accumulate::yes;
    }
  });
  return y;
}

Var residual_norm(Context& cx, const Var& x, const Var& r, const Var& gamma, const Var& beta, const Dropout& drop,
                  double eps) {
  check("residual_norm", x, gamma, beta);
  require(r.shape() == x.shape(), "residual_norm: r is {}, expected {} like x", r.shape(), x.shape());
  check_positions("residual_norm", drop, x.rows());
  const DType stat = stat_type(x.dtype());
  Var y = cx.make(x.shape(), cx.activation_type(gamma.dtype()), {x, r, gamma, beta}, gamma.dtype());
  const Tensor sum = cx.save(x.shape(), gamma.dtype()), mean = cx.save({x.rows()}, stat),
               rstd = cx.save({x.rows()}, stat);
  cx.backend.residual_norm(Backend::ResidualNorm{y, sum, mean, rstd, x, r, gamma, beta, drop, eps});
  cx.record("residual_norm", y, [=](Backward& b) {
    const Tensor scratch = b.scratch(b.backend.norm_scratch(x.cols()));
    b.backend.norm_backward(Backend::NormBackward{.dx = b.grad(x),
                                                  .dr = b.grad(r),
                                                  .dgamma = b.grad(gamma),
                                                  .dbeta = beta ? b.grad(beta) : Grad{},
                                                  .dy = b.grad_out(),
                                                  .sum = sum,
                                                  .mean = mean,
                                                  .rstd = rstd,
                                                  .gamma = gamma,
                                                  .dropout = drop,
                                                  .scratch = scratch,
                                                  .centred = bool(beta)});
  });
  return y;
}

Var batch_norm(Context& cx, const Var& stored, const Var& gamma, const Var& beta, const RunningStatistics& running,
               double eps) {
  const Var x = widened(cx, stored);
  require(bool(beta), "batch_norm: beta is missing, expected {}", Shape{x.cols()});
  check("batch_norm", x, gamma, beta);
  for (const Tensor& of : {running.mean, running.variance})
    require(of.shape() == Shape{x.cols()}, "batch_norm: a running statistic is {}, expected {}", of.shape(),
            Shape{x.cols()});
  Var y = cx.make(x.shape(), x.dtype(), {x, gamma, beta});
  const DType stat = stat_type(x.dtype());
  const Tensor mean = cx.save({x.cols()}, stat), rstd = cx.save({x.cols()}, stat);
  const bool of_rows = cx.training;
  cx.backend.batch_norm(Backend::BatchNorm{y, mean, rstd, running.mean, running.variance, x, gamma, beta, eps,
                                           of_rows ? batch_norm_momentum : 0});
  cx.record("batch_norm", y, [=](Backward& b) {
    b.backend.batch_norm_backward(Backend::BatchNormBackward{.dx = b.grad(x),
                                                             .dgamma = b.grad(gamma),
                                                             .dbeta = b.grad(beta),
                                                             .dy = b.grad_out(),
                                                             .x = x,
                                                             .mean = mean,
                                                             .rstd = rstd,
                                                             .gamma = gamma,
                                                             .of_rows = of_rows,
                                                             .sums = b.temporary({2, x.cols()}, stat)});
  });
  return y;
}

}  // namespace dragoman
