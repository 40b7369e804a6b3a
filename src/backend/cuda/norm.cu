#include "backend/backend.h"
#include "backend/cuda/families.h"
#include "backend/cuda/mask.cuh"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

constexpr int warps = 4;              // per block; each handles a row
constexpr int64_t partial_sums = 64;  // blocks that share the rows for the gradients of gamma and beta

__device__ int64_t row_of_warp() { return int64_t{blockIdx.x} * warps + threadIdx.x / warp_size; }
__device__ int lane() { return int(threadIdx.x % warp_size); }

struct Norm {
  View<float> y, mean, rstd;
  View<const float> gamma, beta;
  float eps;
};

// One warp per row: y = (x - mean) · rstd · gamma + beta
__device__ void normalise(const Norm& a, const float* x, int64_t n) {
  const int64_t D = a.y.cols;
  float sum = 0, squares = 0;
  for (int64_t d = lane(); d < D; d += warp_size) sum += x[d];
  const float mean = a.beta ? warp_sum(sum) / float(D) : 0.f;
  for (int64_t d = lane(); d < D; d += warp_size) squares += (x[d] - mean) * (x[d] - mean);
  const float rstd = 1 / sqrtf(warp_sum(squares) / float(D) + a.eps);
  for (int64_t d = lane(); d < D; d += warp_size)
    a.y(n, d) = (x[d] - mean) * rstd * a.gamma(d) + (a.beta ? a.beta(d) : 0.f);
  if (lane() == 0) {
    a.mean(n) = mean;
    a.rstd(n) = rstd;
  }
}

__global__ void norm_kernel(Norm a, View<const float> x) {
  const int64_t n = row_of_warp();
  if (n < x.rows) normalise(a, x.row(n), n);
}

__global__ void residual_norm_kernel(Norm a, View<float> sum, View<const float> x, View<const float> r, Mask mask) {
  const int64_t n = row_of_warp();
  if (n >= x.rows) return;
  for (int64_t unit = lane(); unit < Mask::units(x.cols); unit += warp_size) {
    const Mask::Factors factors = mask.factors(n, unit);
    for (int j = 0; j < Mask::width; ++j) {
      const int64_t d = Mask::column(unit, j);
      if (d < x.cols) sum(n, d) = x(n, d) + factors[j] * r(n, d);
    }
  }
  __syncwarp();  // lanes read sums written by others
  normalise(a, sum.row(n), n);
}

Norm norm_of(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& gamma, const Tensor& beta,
             double eps) {
  return {view<float>(y),           view<float>(mean),       view<float>(rstd),
          view<const float>(gamma), view<const float>(beta), float(eps)};
}

void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
                const Tensor& beta, double eps) {
  launch(norm_kernel, dim3(blocks_of(x.rows(), warps)), dim3(warps * warp_size), 0,
         norm_of(y, mean, rstd, gamma, beta, eps), view<const float>(x));
}

void residual_norm(const Backend::ResidualNorm& a) {
  launch(residual_norm_kernel, dim3(blocks_of(a.x.rows(), warps)), dim3(warps * warp_size), 0,
         norm_of(a.y, a.mean, a.rstd, a.gamma, a.beta, a.eps), view<float>(a.sum), view<const float>(a.x),
         view<const float>(a.r), Mask(a.dropout));
}

struct NormBack {
  Put dx, dr;
  View<const float> dy, sum, mean, rstd, gamma;
  bool centred;

  __device__ float normed(int64_t n, int64_t d) const { return (sum(n, d) - mean(n)) * rstd(n); }
};

// dx = rstd · (g - mean(g) - n · mean(g · n)),  g = dy · gamma;  dr = mask · dx
__global__ void norm_backward_kernel(NormBack b, Mask mask) {
  const int64_t n = row_of_warp(), D = b.sum.cols;
  if (n >= b.sum.rows) return;
  float g_sum = 0, gn_sum = 0;
  for (int64_t d = lane(); d < D; d += warp_size) {
    const float g = b.dy(n, d) * b.gamma(d);
    g_sum += g;
    gn_sum += g * b.normed(n, d);
  }
  const float mean_g = b.centred ? warp_sum(g_sum) / float(D) : 0.f, mean_gn = warp_sum(gn_sum) / float(D);
  for (int64_t unit = lane(); unit < Mask::units(D); unit += warp_size) {
    const Mask::Factors factors = mask.factors(n, unit);
    for (int j = 0; j < Mask::width; ++j) {
      const int64_t d = Mask::column(unit, j);
      if (d >= D) continue;
      const float dx = b.rstd(n) * (b.dy(n, d) * b.gamma(d) - mean_g - b.normed(n, d) * mean_gn);
      b.dx(n, d, dx);
      b.dr(n, d, factors[j] * dx);
    }
  }
}

// Partial sums (partial_sums, 2D) over the rows of a block: of dy · n, then of dy.
__global__ void parameter_kernel(NormBack b, View<float> sums) {
  const int64_t D = b.sum.cols, share = (b.sum.rows + partial_sums - 1) / partial_sums, from = blockIdx.x * share;
  const int64_t to = from + share < b.sum.rows ? from + share : b.sum.rows;
  const int64_t d = blockIdx.y * int64_t{blockDim.x} + threadIdx.x;
  if (d >= D) return;
  float dgamma = 0, dbeta = 0;
  for (int64_t n = from; n < to; ++n) {
    dgamma += b.dy(n, d) * b.normed(n, d);
    dbeta += b.dy(n, d);
  }
  sums(blockIdx.x, d) = dgamma;
  sums(blockIdx.x, D + d) = dbeta;
}

void norm_backward(const Backend::NormBackward& b) {
  const NormBack back{Put(b.dx),
                      Put(b.dr),
                      view<const float>(b.dy),
                      view<const float>(b.sum),
                      view<const float>(b.mean),
                      view<const float>(b.rstd),
                      view<const float>(b.gamma),
                      b.centred};
  const int64_t N = b.sum.rows(), D = b.sum.cols();
  if (b.dx || b.dr)
    launch(norm_backward_kernel, dim3(blocks_of(N, warps)), dim3(warps * warp_size), 0, back, Mask(b.dropout));
  if (!b.dgamma && !b.dbeta) return;
  const View<float> sums{static_cast<float*>(b.scratch.data()), partial_sums, 2 * D, 2 * D};
  launch(parameter_kernel, dim3(unsigned(partial_sums), blocks_of(D, threads_per_block)), dim3(threads_per_block), 0,
         back, sums);
  const Put dgamma(b.dgamma), dbeta(b.dbeta);
  each_element(1, 2 * D, [=] __device__(int64_t, int64_t d) {
    float total = 0;
    for (int64_t part = 0; part < partial_sums; ++part) total += sums(part, d);
    d < D ? dgamma(0, d, total) : dbeta(0, d - D, total);
  });
}

}  // namespace

void install_norm(Backend& b) {
  b.layer_norm = layer_norm;
  b.residual_norm = residual_norm;
  b.norm_scratch = [](int64_t D) { return partial_sums * 2 * D * int64_t{sizeof(float)}; };
  b.norm_backward = norm_backward;
}

}  // namespace dragoman::cuda
