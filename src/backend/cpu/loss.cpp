#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/loss.cpp"
#include <hwy/foreach_target.h>
//
#include <cmath>
#include <limits>

#include "backend/copying.h"
#include "backend/cpu/families.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/linear_packed.h"
#include "backend/cpu/simd-inl.h"
#include "backend/loss.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// From the logits of row n: its loss, its log_prob and, if requested, the gradient of the logits, which replaces them
// or is rounded into `half` if that is given.
void CrossEntropyRow(const LossKernels::LinearCrossEntropy& l, int64_t n, float* z, bool gradient, bfloat16* half) {
  const F32 d;
  const int32_t target = l.targets.as<int32_t>()[n];
  const float smoothing = float(l.label_smoothing), weight = l.weights ? l.weights.as<float>()[n] : 1.0f;
  const int64_t V = l.w.rows(), L = hn::Lanes(d), full = V / L * L;
  VF tops = hn::Set(d, -std::numeric_limits<float>::infinity()), totals = hn::Zero(d);
  for (int64_t v = 0; v < full; v += L) {
    const VF x = hn::LoadU(d, z + v);
    tops = hn::Max(tops, x);
    totals = hn::Add(totals, x);
  }
  float top = full ? Max(d, tops) : -std::numeric_limits<float>::infinity(), total = full ? Sum(d, totals) : 0;
  for (int64_t v = full; v < V; ++v) top = std::max(top, z[v]), total += z[v];

  const float target_logit = z[target];
  VF sums = hn::Zero(d);
  for (int64_t v = 0; v < full; v += L) {
    const VF e = ExpOfNegative(hn::Sub(hn::LoadU(d, z + v), hn::Set(d, top)));
    sums = hn::Add(sums, e);
    if (gradient) hn::StoreU(e, d, z + v);
  }
  float sum = Sum(d, sums);
  for (int64_t v = full; v < V; ++v) {
    const float e = std::exp(z[v] - top);
    sum += e;
    if (gradient) z[v] = e;
  }
  const float lse = top + std::log(sum);
  const TargetMixture<float> mixture = target_mixture(l, n, target_logit - lse);
  l.log_prob.as<float>()[n] = mixture.log_prob;
  l.loss.as<float>()[n] = weight * (-(1 - smoothing) * mixture.log_prob - smoothing * (total / float(V) - lse));
  put_target_gradients(l, n, mixture, weight * (1 - smoothing));
  if (!gradient) return;

  // As the reference's dz, with p = e^z / sum.
  const float scale = weight * (1 - (1 - smoothing) * (1 - mixture.share)) / sum;
  const float share = weight * (smoothing / float(V));
  const float of_target = z[target] * scale - share - weight * (1 - smoothing) * mixture.share;
  for (int64_t v = 0; v < full; v += L) {
    const VF dz = hn::MulSub(hn::LoadU(d, z + v), hn::Set(d, scale), hn::Set(d, share));
    half ? StoreRounded(dz, half + v) : hn::StoreU(dz, d, z + v);
  }
  const auto put = [&](int64_t v, float dz) {
    if (half) return void(half[v] = bfloat16(dz));
    z[v] = dz;
  };
  for (int64_t v = full; v < V; ++v) put(v, z[v] * scale - share);
  put(target, of_target);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(CrossEntropyRow);

// Rows of logits that exist at a time. Each chunk reads all of w, and reads and writes all of dw, which dominates in
// small chunks.
constexpr int64_t chunk_rows = 512;

void add_bias(View<float> z, const float* bias) {
  for (int64_t n = 0; n < z.rows; ++n)
    for (int64_t v = 0; v < z.cols; ++v) z(n, v) += bias[v];
}

template <class T>
void add_rows(float* sums, View<const T> dz, Range columns) {
  for (int64_t n = 0; n < dz.rows; ++n)
    for (int64_t v = columns.begin; v < columns.end; ++v) sums[v] += float(dz(n, v));
}

// dbias = or += Σ_n dz (N,V). A thread owns columns, so that they are summed in the order of rows.
void sum_rows(Grad dbias, const Tensor& dz) {
  float* const sums = dbias.tensor.as<float>();
  parallel_blocks(dz.cols(), 64, [&](Range columns, int) {
    if (!dbias.adds()) std::fill(sums + columns.begin, sums + columns.end, 0.0f);
    dz.dtype() == DType::bf16 ? add_rows(sums, dz.view<const bfloat16>(), columns)
                              : add_rows(sums, dz.view<const float>(), columns);
  });
}

void clear(const Grad& g) {
  if (g && !g.adds()) std::fill_n(g.tensor.as<float>(), g.tensor.elements(), 0.0f);
}

void linear_cross_entropy(const LossKernels::LinearCrossEntropy& l) {
  const int64_t N = l.x.rows(), V = l.w.rows();
  const bool half = l.x.dtype() == DType::bf16;
  const auto row_of = HWY_DYNAMIC_DISPATCH(CrossEntropyRow);
  if (N == 0) clear(l.dw), clear(l.dbias);
  for (int64_t from = 0; from < N; from += chunk_rows) {
    const int64_t count = std::min(chunk_rows, N - from);
    const Tensor z = Tensor::borrow(static_cast<float*>(l.scratch.data()), {count, V});
    const Tensor dz = half ? Tensor::borrow(reinterpret_cast<bfloat16*>(z.as<float>() + z.elements()), {count, V}) : z;
    const Tensor x = l.x.row_range(from, count);
    if (l.packed) linear_packed(z, x, l.packed, l.bias, Activation::none);
    parallel_blocks(count, 4, [&](Range rows, int) {
      const int64_t own = rows.end - rows.begin;
      const Tensor z_own = z.row_range(rows.begin, own);
      if (!l.packed) {
        gemm(z_own, x.row_range(rows.begin, own), Transpose::no, l.w, Transpose::yes, Accumulate::no);
        if (l.bias) add_bias(z_own.view<float>(), l.bias.as<float>());
      }
      for (int64_t n = rows.begin; n < rows.end; ++n)
        row_of(l, from + n, z.view<float>().row(n), l.backward(), half ? dz.view<bfloat16>().row(n) : nullptr);
      if (!l.dx) return;
      gemm(l.dx.tensor.row_range(from + rows.begin, own), dz.row_range(rows.begin, own), Transpose::no, l.w,
           Transpose::no, l.dx.mode);
    });
    const auto mode = [&](const Grad& g) { return from > 0 ? Accumulate::yes : g.mode; };
    if (l.dw) gemm_over_rows(l.dw.tensor, dz, x, mode(l.dw));
    if (l.dbias) sum_rows({l.dbias.tensor, mode(l.dbias)}, dz);
  }
}

}  // namespace

void install_loss(LossKernels& b) {
  b.linear_cross_entropy_scratch = [](int64_t N, int64_t V, DType factors) {
    return std::min(N, chunk_rows) * V * (int64_t{sizeof(float)} + (factors == DType::bf16 ? size_of(factors) : 0));
  };
  b.linear_cross_entropy = linear_cross_entropy;
}

}  // namespace dragoman::cpu
#endif
