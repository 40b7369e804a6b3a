#include "backend/backend.h"
#include "backend/cuda/columns.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {
namespace {

constexpr int warps = 4;  // per block; each handles a row

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

// The backward pass is one kernel that reads dy and the sum from memory once: a warp handles a row at a time, in two
// passes of which the second finds the row in the cache. That pass also adds the row to the warp's sums for the
// gradients of gamma and beta, in shared memory; if that is too small, a block has one warp, which adds to the block's
// sums. A lane handles columns 4·lane to 4·lane + 3 of every 128.
constexpr int64_t columns_at_a_time = 4 * warp_size;
constexpr int64_t most_blocks = 264;        // two for each multiprocessor of an H100; each writes 2D partial sums
constexpr int64_t most_shared = 64 * 1024;  // bytes of a block's sums, on all GPUs
constexpr int64_t least_warps = 1, most_warps = 8;

struct NormBack {
  Put dx, dr;
  View<const float> dy, sum, mean, rstd, gamma;
  View<float> sums;  // a row per block: Σ dy · n (D), Σ dy (D); empty if not wanted
  bool centred, wide, in_shared;

  __device__ int64_t rows() const { return sum.rows; }
  __device__ int64_t cols() const { return sum.cols; }
};

/// The part of a row that a lane handles at a time: dy, n = (sum - mean) · rstd and g = dy · gamma.
struct Part {
  Four dy, normed, g;

  __device__ Part(const NormBack& b, int64_t n, int64_t d) : dy(load_four(b.dy.row(n), d, b.cols(), b.wide)) {
    const Four sum = load_four(b.sum.row(n), d, b.cols(), b.wide), gamma = load_four(b.gamma.data, d, b.cols(), b.wide);
    for (int j = 0; j < 4; ++j) {
      normed.at[j] = (sum.at[j] - b.mean(n)) * b.rstd(n);
      g.at[j] = dy.at[j] * gamma.at[j];
    }
  }
};

/// Adds dy · n to sums[d] … and dy to sums[D + d] … of this warp. Each lane has columns of its own.
__device__ void add_part(float* sums, const NormBack& b, const Part& p, int64_t d) {
  const int64_t D = b.cols();
  Four dgamma = load_four(sums, d, D, b.wide), dbeta = load_four(sums + D, d, D, b.wide);
  for (int j = 0; j < 4; ++j) {
    dgamma.at[j] += p.dy.at[j] * p.normed.at[j];
    dbeta.at[j] += p.dy.at[j];
  }
  store_four(sums, d, D, b.wide, dgamma);
  store_four(sums + D, d, D, b.wide, dbeta);
}

/// Dropout factors of a lane's columns. A unit's eight columns are 16 apart, so one call of Philox per lane serves 256
/// columns of the warp, and lanes exchange the mask bits of their columns. All lanes must call `of`, for
/// columns 0, 128, 256, … of a row in turn.
class RowMask {
 public:
  __device__ RowMask(const Mask& mask, int64_t n) : mask_(mask), n_(n) {}
  __device__ Four of(int64_t first) {
    Four factors{{1, 1, 1, 1}};
    if (!mask_.positions) return factors;
    const int64_t half = first / columns_at_a_time % 2;
    if (half == 0) kept_ = mask_.kept(n_, first / columns_at_a_time * 16 + lane());
    for (int j = 0; j < 4; ++j) {
      const unsigned bits = __shfl_sync(0xffffffffu, kept_, int(half * 16) + lane() % 4 * 4 + j);
      factors.at[j] = bits >> lane() / 4 & 1 ? mask_.scale : 0.f;
    }
    return factors;
  }

 private:
  const Mask& mask_;
  const int64_t n_;
  unsigned kept_ = 0;
};

// dx = rstd · (g - mean(g) - n · mean(g · n)),  g = dy · gamma;  dr = mask · dx
__device__ void row_backward(const NormBack& b, const Mask& mask, float* sums, int64_t n) {
  const int64_t D = b.cols();
  float g_sum = 0, gn_sum = 0;
#pragma unroll 4  // stores nothing, so that the loads of several parts overlap
  for (int64_t d = 4 * lane(); d < D; d += columns_at_a_time) {
    const Part p(b, n, d);
    for (int j = 0; j < 4; ++j) {
      g_sum += p.g.at[j];
      gn_sum += p.g.at[j] * p.normed.at[j];
    }
  }
  const float mean_g = b.centred ? warp_sum(g_sum) / float(D) : 0.f, mean_gn = warp_sum(gn_sum) / float(D);
  RowMask row_mask(mask, n);
  for (int64_t first = 0; first < D; first += columns_at_a_time) {
    const Four factors = row_mask.of(first);
    const int64_t d = first + 4 * lane();
    if (d >= D) continue;
    const Part p(b, n, d);
    if (b.sums) add_part(sums, b, p, d);
    Four dx, dr;
    for (int j = 0; j < 4; ++j) {
      dx.at[j] = b.rstd(n) * (p.g.at[j] - mean_g - p.normed.at[j] * mean_gn);
      dr.at[j] = factors.at[j] * dx.at[j];
    }
    put_four(b.dx, n, d, b.wide, dx);
    put_four(b.dr, n, d, b.wide, dr);
  }
}

__global__ void norm_backward_kernel(NormBack b, Mask mask) {
  const int64_t D = b.cols(), warp = threadIdx.x / warp_size, count = blockDim.x / warp_size;
  float* const all = b.in_shared ? dynamic_shared<float>() : b.sums.row(blockIdx.x);
  float* const mine = all + warp * 2 * D;
  if (b.sums)
    for (int64_t d = threadIdx.x; d < count * 2 * D; d += blockDim.x) all[d] = 0;
  __syncthreads();
  for (int64_t n = blockIdx.x * count + warp; n < b.rows(); n += gridDim.x * count) row_backward(b, mask, mine, n);
  if (!b.sums) return;
  __syncthreads();
  for (int64_t d = threadIdx.x; d < 2 * D; d += blockDim.x) {
    float sum = 0;
    for (int64_t w = 0; w < count; ++w) sum += all[w * 2 * D + d];
    b.sums(blockIdx.x, d) = sum;
  }
}

void norm_backward(const Backend::NormBackward& b) {
  const int64_t N = b.sum.rows(), D = b.sum.cols(), bytes = 2 * D * int64_t{sizeof(float)};
  const int64_t count = std::clamp(most_shared / bytes, least_warps, most_warps);
  const int64_t blocks = std::min<int64_t>(most_blocks, blocks_of(N, count));
  const bool wide =
      in_fours(b.dx.tensor) && in_fours(b.dr.tensor) && in_fours(b.dy) && in_fours(b.sum) && in_fours(b.gamma);
  const View<float> sums{static_cast<float*>(b.scratch.data()), blocks, 2 * D, 2 * D};
  const bool parameters = b.dgamma || b.dbeta, in_shared = parameters && bytes <= most_shared;
  launch(norm_backward_kernel, dim3(unsigned(blocks)), dim3(unsigned(count * warp_size)), in_shared ? count * bytes : 0,
         NormBack{Put(b.dx), Put(b.dr), view<const float>(b.dy), view<const float>(b.sum), view<const float>(b.mean),
                  view<const float>(b.rstd), view<const float>(b.gamma), parameters ? sums : View<float>{}, b.centred,
                  wide, in_shared},
         Mask(b.dropout));
  if (!parameters) return;
  const Put dgamma(b.dgamma), dbeta(b.dbeta);
  column_totals({sums.data, blocks, 2 * D, 2 * D},
                [=] __device__(int64_t d, float total) { d < D ? dgamma(0, d, total) : dbeta(0, d - D, total); });
}

}  // namespace

void install_norm(Backend& b) {
  b.layer_norm = layer_norm;
  b.residual_norm = residual_norm;
  b.norm_scratch = [](int64_t D) { return most_blocks * 2 * D * int64_t{sizeof(float)}; };
  b.norm_backward = norm_backward;
}

}  // namespace dragoman::cuda
