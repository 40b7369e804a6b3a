#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

void mix_rows(const Tensor& y, const Tensor& x, const Tensor& rows, const Tensor& weights) {
  const auto Y = view<float>(y);
  const auto X = view<const float>(x), W = view<const float>(weights);
  const auto which = view<const int32_t>(rows);
  each_element(Y.rows, Y.cols, [=] __device__(int64_t n, int64_t d) {
    float sum = 0;
    for (int64_t j = 0; j < which.cols; ++j)
      if (which(n, j) >= 0) sum += (W ? W(n, j) : 1.f) * X(which(n, j), d);
    Y(n, d) = sum;
  });
}

void mix_rows_backward(Grad dx, Grad dweights, const Tensor& dy, const Tensor& x, const Tensor& rows,
                       const Tensor& weights) {
  const Put DX(dx), DW(dweights);
  const auto DY = view<const float>(dy), X = view<const float>(x), W = view<const float>(weights);
  const auto which = view<const int32_t>(rows);
  each_element(DY.rows, DY.cols, [=] __device__(int64_t n, int64_t d) {
    for (int64_t j = 0; j < which.cols; ++j)
      if (which(n, j) >= 0) DX(which(n, j), d, W(n, j) * DY(n, d));
  });
  each_element(DY.rows, which.cols, [=] __device__(int64_t n, int64_t j) {
    float sum = 0;
    for (int64_t d = 0; which(n, j) >= 0 && d < DY.cols; ++d) sum += DY(n, d) * X(which(n, j), d);
    DW(n, j, sum);
  });
}

/// Softmax of a row's logits (E) over the k best, or over all for k = 1.
struct Shares {
  const float* z;
  const int32_t* best;
  int64_t E, k;
  float top, sum;

  __device__ Shares(const float* logits, int64_t experts, const int32_t* named, int64_t count)
      : z(logits), best(named), E(experts), k(count), top(logits[named[0]]), sum(0) {
    for (int64_t e = 0; e < E; ++e)
      if (kept(e)) sum += expf(z[e] - top);
  }
  __device__ bool kept(int64_t e) const {
    for (int64_t j = 0; j < k; ++j)
      if (best[j] == e) return true;
    return k == 1;
  }
  __device__ float operator()(int64_t e) const { return kept(e) ? expf(z[e] - top) / sum : 0.f; }
};

/// The k largest of z (E), best first.
__device__ void find_best(int32_t* best, int64_t k, const float* z, int64_t E) {
  for (int64_t j = 0; j < k; ++j) {
    int32_t next = -1;
    for (int32_t e = 0; e < E; ++e) {
      bool taken = false;
      for (int64_t i = 0; i < j; ++i) taken = taken || best[i] == e;
      if (!taken && (next < 0 || z[e] > z[next])) next = e;
    }
    best[j] = next;
  }
}

// The host plans with `experts`, so they are downloaded; their device copy is what this kernel writes.
void route(const Tensor& gates, const Tensor& experts, const Tensor& logits) {
  const auto G = view<float>(gates);
  const auto Z = view<const float>(logits);
  const auto best = view<int32_t>(experts);
  if (experts.elements() == 0) return;
  each_element(Z.rows, 1, [=] __device__(int64_t n, int64_t) {
    find_best(best.row(n), G.cols, Z.row(n), Z.cols);
    const Shares share(Z.row(n), Z.cols, best.row(n), G.cols);
    for (int64_t j = 0; j < G.cols; ++j) G(n, j) = share(best(n, j));
  });
  device_memory().download(experts.data(), best.data, experts.bytes());
}

// dz_e = p_e (g_e - Σ_i p_i g_i), where p = softmax(z) and g is its gradient, from the gates and from the load loss,
// which has the weight of the row.
void route_backward(Grad dlogits, const Tensor& dgates, const Tensor& logits, const Tensor& experts, const Tensor& load,
                    const Tensor& weights) {
  const Put DZ(dlogits);
  const auto DG = view<const float>(dgates), Z = view<const float>(logits), L = view<const float>(load),
             W = view<const float>(weights);
  const auto best = view<const int32_t>(experts);
  each_element(Z.rows, 1, [=] __device__(int64_t n, int64_t) {
    const Shares share(Z.row(n), Z.cols, best.row(n), best.cols), of_all(Z.row(n), Z.cols, best.row(n), 1);
    const float weight = W ? W(n) : 1.f;
    float mean = 0, mean_load = 0;
    for (int64_t j = 0; j < best.cols; ++j) mean += share(best(n, j)) * DG(n, j);
    for (int64_t e = 0; L && e < Z.cols; ++e) mean_load += of_all(e) * L(e);
    for (int64_t e = 0; e < Z.cols; ++e) {
      float g = 0;
      for (int64_t j = 0; j < best.cols; ++j) g += best(n, j) == e ? DG(n, j) : 0.f;
      DZ(n, e, share(e) * (g - mean) + (L ? of_all(e) * (weight * (L(e) - mean_load)) : 0.f));
    }
  });
}

}  // namespace

void install_experts(Backend& b) {
  b.mix_rows = mix_rows;
  b.mix_rows_backward = mix_rows_backward;
  b.route = route;
  b.route_backward = route_backward;
}

}  // namespace dragoman::cuda
