#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/batch_norm.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/norm.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// Rows are visited in memory order, and the column sums, updated by each row, stay in L1. A column's sum is one chain
// over all rows on any thread: the same bits for every number of threads.
template <class F>
HWY_INLINE void ForColumns(Range cols, const F& f) {
  const int64_t L = hn::Lanes(F32());
  for (int64_t c = cols.begin; c < cols.end; c += L) f(c, cols.end - c);
}

// Column means in `mean`; column sums of squared deviations from them in `squares`.
HWY_INLINE void ColumnMoments(float* mean, float* squares, View<const float> X, Range cols) {
  const F32 d;
  std::fill(mean + cols.begin, mean + cols.end, 0.0f);
  std::fill(squares + cols.begin, squares + cols.end, 0.0f);
  for (int64_t n = 0; n < X.rows; ++n)
    ForColumns(cols, [&](int64_t c, int64_t k) {
      StoreN(hn::Add(LoadN(d, mean + c, k), LoadN(d, X.row(n) + c, k)), d, mean + c, k);
    });
  const float one_of_all = 1 / float(std::max<int64_t>(X.rows, 1));
  for (int64_t c = cols.begin; c < cols.end; ++c) mean[c] *= one_of_all;
  for (int64_t n = 0; n < X.rows; ++n)
    ForColumns(cols, [&](int64_t c, int64_t k) {
      const VF x = hn::Sub(LoadN(d, X.row(n) + c, k), LoadN(d, mean + c, k));
      StoreN(hn::MulAdd(x, x, LoadN(d, squares + c, k)), d, squares + c, k);
    });
}

// Moves the running statistics of a column one step towards those of N rows.
HWY_INLINE void MoveRunning(const NormKernels::BatchNorm& a, int64_t column, float mean, float squares, int64_t N) {
  if (N < 2 || !std::isfinite(squares)) return;
  float &running_mean = a.running_mean.as<float>()[column], &running = a.running_variance.as<float>()[column];
  running_mean += float(a.momentum) * (mean - running_mean);
  running += float(a.momentum) * (squares / float(N - 1) - running);
}

void BatchNormColumns(const NormKernels::BatchNorm& a, Range cols) {
  const F32 d;
  const auto Y = a.y.view<float>();
  const auto X = a.x.view<const float>();
  const float *gamma = a.gamma.as<float>(), *beta = a.beta.as<float>();
  float *mean = a.mean.as<float>(), *rstd = a.rstd.as<float>();
  if (a.momentum > 0) ColumnMoments(mean, rstd, X, cols);
  for (int64_t c = cols.begin; c < cols.end; ++c) {
    float variance = a.running_variance.as<float>()[c];
    if (a.momentum > 0) {
      MoveRunning(a, c, mean[c], rstd[c], X.rows);
      variance = rstd[c] / float(std::max<int64_t>(X.rows, 1));
    } else {
      mean[c] = a.running_mean.as<float>()[c];
    }
    rstd[c] = 1 / std::sqrt(variance + float(a.eps));
  }
  for (int64_t n = 0; n < X.rows; ++n)
    ForColumns(cols, [&](int64_t c, int64_t k) {
      const VF normed = hn::Mul(hn::Sub(LoadN(d, X.row(n) + c, k), LoadN(d, mean + c, k)), LoadN(d, rstd + c, k));
      StoreN(hn::MulAdd(normed, LoadN(d, gamma + c, k), LoadN(d, beta + c, k)), d, Y.row(n) + c, k);
    });
}

// dgamma and dbeta of columns, before they are written to their tensors.
HWY_INLINE void ColumnGradients(float* dgamma, float* dbeta, const NormKernels::BatchNormBackward& b, Range cols) {
  const F32 d;
  const auto X = b.x.view<const float>(), DY = b.dy.view<const float>();
  const float *mean = b.mean.as<float>(), *rstd = b.rstd.as<float>();
  std::fill(dgamma + cols.begin, dgamma + cols.end, 0.0f);
  std::fill(dbeta + cols.begin, dbeta + cols.end, 0.0f);
  for (int64_t n = 0; n < X.rows; ++n)
    ForColumns(cols, [&](int64_t c, int64_t k) {
      const VF normed = hn::Mul(hn::Sub(LoadN(d, X.row(n) + c, k), LoadN(d, mean + c, k)), LoadN(d, rstd + c, k));
      const VF dy = LoadN(d, DY.row(n) + c, k);
      StoreN(hn::MulAdd(dy, normed, LoadN(d, dgamma + c, k)), d, dgamma + c, k);
      StoreN(hn::Add(dy, LoadN(d, dbeta + c, k)), d, dbeta + c, k);
    });
}

void BatchNormBackwardColumns(const NormKernels::BatchNormBackward& b, Range cols) {
  const F32 d;
  const auto X = b.x.view<const float>(), DY = b.dy.view<const float>();
  const auto DX = b.dx.tensor.view<float>();
  const float *gamma = b.gamma.as<float>(), *mean = b.mean.as<float>(), *rstd = b.rstd.as<float>();
  float *dgamma = b.sums.as<float>(), *dbeta = dgamma + X.cols;
  ColumnGradients(dgamma, dbeta, b, cols);
  const auto put = [](const Grad& g, const float* sums, int64_t c) {
    if (g) g.tensor.as<float>()[c] = g.adds() ? g.tensor.as<float>()[c] + sums[c] : sums[c];
  };
  for (int64_t c = cols.begin; c < cols.end; ++c) put(b.dgamma, dgamma, c), put(b.dbeta, dbeta, c);
  if (!DX) return;
  const VF share = hn::Set(d, b.of_rows ? 1 / float(std::max<int64_t>(X.rows, 1)) : 0.0f);
  for (int64_t n = 0; n < X.rows; ++n)
    ForColumns(cols, [&](int64_t c, int64_t k) {
      const VF r = LoadN(d, rstd + c, k),
               normed = hn::Mul(hn::Sub(LoadN(d, X.row(n) + c, k), LoadN(d, mean + c, k)), r);
      const VF moved = hn::MulAdd(normed, LoadN(d, dgamma + c, k), LoadN(d, dbeta + c, k));
      const VF dx =
          hn::Mul(hn::Mul(LoadN(d, gamma + c, k), r), hn::NegMulAdd(moved, share, LoadN(d, DY.row(n) + c, k)));
      StoreGrad(dx, d, DX.row(n) + c, k, b.dx.adds());
    });
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(BatchNormColumns);
HWY_EXPORT(BatchNormBackwardColumns);

constexpr int64_t columns_of_a_thread = 64;  // at least: four cache lines

void batch_norm(const NormKernels::BatchNorm& a) {
  const auto columns_of = HWY_DYNAMIC_DISPATCH(BatchNormColumns);
  parallel_blocks(a.x.cols(), columns_of_a_thread, [&](Range cols, int) { columns_of(a, cols); });
}

void batch_norm_backward(const NormKernels::BatchNormBackward& b) {
  const auto columns_of = HWY_DYNAMIC_DISPATCH(BatchNormBackwardColumns);
  parallel_blocks(b.x.cols(), columns_of_a_thread, [&](Range cols, int) { columns_of(b, cols); });
}

}  // namespace

void install_batch_norm(NormKernels& b) {
  b.batch_norm = batch_norm;
  b.batch_norm_backward = batch_norm_backward;
}

}  // namespace dragoman::cpu
#endif
