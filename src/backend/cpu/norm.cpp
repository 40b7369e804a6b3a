#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/norm.cpp"
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

// y = (s - mean) · rstd · gamma + beta over one row in L1; without beta, no mean is subtracted.
template <class Y, class S>
HWY_INLINE void NormRow(Y y, float& mean, float& rstd, S s, const float* gamma, const float* beta, int64_t D,
                        float eps) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF sum = hn::Zero(d), squares = hn::Zero(d);
  if (beta)
    for (int64_t c = 0; c < D; c += L) sum = hn::Add(sum, LoadN(d, s + c, D - c));
  mean = Sum(d, sum) / float(D);
  const VF m = hn::Set(d, mean);
  for (int64_t c = 0; c < D; c += L) {
    VF x = hn::Sub(LoadN(d, s + c, D - c), m);
    if (D - c < L) x = hn::IfThenElseZero(hn::FirstN(d, D - c), x);
    squares = hn::MulAdd(x, x, squares);
  }
  rstd = 1 / std::sqrt(Sum(d, squares) / float(D) + eps);
  const VF r = hn::Set(d, rstd);
  for (int64_t c = 0; c < D; c += L) {
    const int64_t n = D - c;
    const VF x = hn::Mul(hn::Sub(LoadN(d, s + c, n), m), r);
    const VF shift = beta ? LoadN(d, beta + c, n) : hn::Zero(d);
    StoreN(hn::MulAdd(x, LoadN(d, gamma + c, n), shift), d, y + c, n);
  }
}

void LayerNormRows(const Tensor& y, float* mean, float* rstd, const Tensor& x, const float* gamma, const float* beta,
                   float eps, Range rows) {
  for_activations(
      [&]<class V>() {
        const V Y = ViewOf<V>(y), X = ViewOf<V>(x);
        for (int64_t n = rows.begin; n < rows.end; ++n)
          NormRow(Y.row(n), mean[n], rstd[n], X.row(n), gamma, beta, X.cols, eps);
      },
      y, x);
}

template <class V>
void ResidualNormRowsOf(const NormKernels::ResidualNorm& a, Range rows) {
  const F32 d;
  const auto S = a.sum.view<float>();
  const V Y = ViewOf<V>(a.y), X = ViewOf<V>(a.x), R = ViewOf<V>(a.r);
  const int64_t L = hn::Lanes(d), D = X.cols;
  const Mask mask = MaskOf(a.dropout, a.dropout.op);
  const auto positions = a.dropout.positions.view<int32_t>();
  HWY_ALIGN float factors[128];
  std::fill_n(factors, 128, 1.0f);
  for (int64_t n = rows.begin; n < rows.end; ++n) {
    const auto x = X.row(n), r = R.row(n);
    float* s = S.row(n);
    for (int64_t from = 0; from < D; from += 128) {
      if (a.dropout.active()) MaskGroup(mask, positions(n, 0), positions(n, 1), uint32_t(from / 128), factors);
      for (int64_t c = from; c < std::min(D, from + 128); c += L)
        StoreN(hn::MulAdd(hn::LoadU(d, factors + (c - from)), LoadN(d, r + c, D - c), LoadN(d, x + c, D - c)), d, s + c,
               D - c);
    }
    NormRow(Y.row(n), a.mean.as<float>()[n], a.rstd.as<float>()[n], s, a.gamma.as<float>(), a.beta.as<float>(), D,
            float(a.eps));
  }
}

void ResidualNormRows(const NormKernels::ResidualNorm& a, Range rows) {
  for_activations([&]<class V>() { ResidualNormRowsOf<V>(a, rows); }, a.y, a.x, a.r);
}

// Rows of one thread; its share of dgamma and dbeta is added to `partial` (2,D), summed over threads afterwards.
template <class V>
void NormBackwardRowsOf(const NormKernels::NormBackward& b, float* partial, Range rows) {
  const F32 d;
  const V DX = ViewOf<V>(b.dx.tensor), DR = ViewOf<V>(b.dr.tensor), DY = ViewOf<V>(b.dy), X = ViewOf<V>(b.sum);
  const float *gamma = b.gamma.as<float>(), *means = b.mean.as<float>(), *rstds = b.rstd.as<float>();
  const int64_t L = hn::Lanes(d), D = X.cols;
  const Mask mask = MaskOf(b.dropout, b.dropout.op);
  const auto positions = b.dropout.positions.view<int32_t>();
  HWY_ALIGN float factors[128];
  std::fill_n(factors, 128, 1.0f);
  float *dgamma = partial, *dbeta = partial + D;
  for (int64_t n = rows.begin; n < rows.end; ++n) {
    const auto x = X.row(n), dy = DY.row(n);
    const VF mean = hn::Set(d, means[n]), rstd = hn::Set(d, rstds[n]);
    VF sum_g = hn::Zero(d), sum_gn = hn::Zero(d);
    for (int64_t c = 0; c < D; c += L) {
      const int64_t k = D - c;
      const VF normed = hn::Mul(hn::Sub(LoadN(d, x + c, k), mean), rstd), y = LoadN(d, dy + c, k);
      const VF g = hn::Mul(y, LoadN(d, gamma + c, k));
      sum_g = hn::Add(sum_g, g);
      sum_gn = hn::MulAdd(g, normed, sum_gn);
      StoreN(hn::MulAdd(y, normed, LoadN(d, dgamma + c, k)), d, dgamma + c, k);
      StoreN(hn::Add(y, LoadN(d, dbeta + c, k)), d, dbeta + c, k);
    }
    const VF mean_g = hn::Set(d, b.centred ? Sum(d, sum_g) / float(D) : 0.0f),
             mean_gn = hn::Set(d, Sum(d, sum_gn) / float(D));
    for (int64_t from = 0; from < D; from += 128) {
      if (DR && b.dropout.active()) MaskGroup(mask, positions(n, 0), positions(n, 1), uint32_t(from / 128), factors);
      for (int64_t c = from; c < std::min(D, from + 128); c += L) {
        const int64_t k = D - c;
        const VF normed = hn::Mul(hn::Sub(LoadN(d, x + c, k), mean), rstd);
        const VF g = hn::Mul(LoadN(d, dy + c, k), LoadN(d, gamma + c, k));
        const VF dx = hn::Mul(rstd, hn::NegMulAdd(normed, mean_gn, hn::Sub(g, mean_g)));
        if (DX) StoreGrad(dx, d, DX.row(n) + c, k, b.dx.adds());
        const VF dr = hn::Mul(dx, hn::LoadU(d, factors + (c - from)));
        if (DR) StoreGrad(dr, d, DR.row(n) + c, k, b.dr.adds());
      }
    }
  }
}

void NormBackwardRows(const NormKernels::NormBackward& b, float* partial, Range rows) {
  for_activations([&]<class V>() { NormBackwardRowsOf<V>(b, partial, rows); }, b.dx.tensor, b.dr.tensor, b.dy, b.sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(LayerNormRows);
HWY_EXPORT(ResidualNormRows);
HWY_EXPORT(NormBackwardRows);

void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
                const Tensor& beta, double eps) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(LayerNormRows);
  parallel_blocks(x.rows(), 16, [&](Range rows, int) {
    rows_of(y, mean.as<float>(), rstd.as<float>(), x, gamma.as<float>(), beta.as<float>(), float(eps), rows);
  });
}

// One pass: residual + dropout + layer norm. A row stays in L1 between the loops, so x and r are read once and sum and
// y written once: 16 bytes per element instead of 36.
void residual_norm(const NormKernels::ResidualNorm& a) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(ResidualNormRows);
  parallel_blocks(a.x.rows(), 16, [&](Range rows, int) { rows_of(a, rows); });
}

void add_or_put(const Grad& g, float sum, int64_t d) {
  float& to = g.tensor.as<float>()[d];
  to = g.adds() ? to + sum : sum;
}

// Partial sums per thread, then over threads in order: deterministic for a given number of threads.
void norm_backward(const NormKernels::NormBackward& b) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(NormBackwardRows);
  const int64_t D = b.sum.cols();
  float* partial = static_cast<float*>(b.scratch.data());
  std::fill_n(partial, thread_count() * 2 * D, 0.0f);
  parallel_blocks(b.sum.rows(), 16, [&](Range rows, int t) { rows_of(b, partial + t * 2 * D, rows); });
  for (int64_t d = 0; d < D; ++d) {
    float gamma = 0, beta = 0;
    for (int t = 0; t < thread_count(); ++t) gamma += partial[t * 2 * D + d], beta += partial[t * 2 * D + D + d];
    if (b.dgamma) add_or_put(b.dgamma, gamma, d);
    if (b.dbeta) add_or_put(b.dbeta, beta, d);
  }
}

}  // namespace

void install_norm(NormKernels& b) {
  b.layer_norm = layer_norm;
  b.residual_norm = residual_norm;
  b.norm_scratch = [](int64_t D) { return thread_count() * 2 * D * int64_t{sizeof(float)}; };
  b.norm_backward = norm_backward;
}

}  // namespace dragoman::cpu
#endif
