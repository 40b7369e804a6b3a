#include "backend/backend.h"
#include "backend/cuda/columns.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {
namespace {

// A lane handles columns 4·lane to 4·lane + 3 of every 128.
constexpr int64_t columns_at_a_time = 4 * warp_size;
constexpr int64_t most_shared = 64 * 1024;  // bytes per block that every GPU offers
constexpr int64_t least_warps = 1, most_warps_forward = 4, most_warps_backward = 8;

/// Warps of a block, each of which needs `bytes` of shared memory.
int64_t warps_for(int64_t bytes, int64_t most) { return std::clamp(most_shared / bytes, least_warps, most); }

/// Floats that a row takes in shared memory, so that each row starts at a multiple of 16 bytes.
__host__ __device__ int64_t floats_of_row(int64_t D) { return (D + 3) / 4 * 4; }

__device__ int lane() { return int(threadIdx.x % warp_size); }

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

/// y = norm(sum),  sum = x + mask · r. Without r, the sum is x and not stored.
struct Norm {
  Values y, sum, x, r;
  View<float> mean, rstd;
  View<const float> gamma, beta;
  float eps;
  bool wide;
};

// y = (x - mean) · rstd · gamma + beta for row n, whose x are in shared memory.
__device__ void normalise(const Norm& a, const float* x, int64_t n) {
  const int64_t D = a.y.cols;
  float sum = 0, squares = 0;
  for (int64_t d = lane(); d < D; d += warp_size) sum += x[d];
  const float mean = a.beta ? warp_sum(sum) / float(D) : 0.f;
  for (int64_t d = lane(); d < D; d += warp_size) squares += (x[d] - mean) * (x[d] - mean);
  const float rstd = 1 / sqrtf(warp_sum(squares) / float(D) + a.eps);
  for (int64_t d = 4 * lane(); d < D; d += columns_at_a_time) {
    const Four gamma = load_four(a.gamma.data, d, D, a.wide);
    const Four beta = a.beta ? load_four(a.beta.data, d, D, a.wide) : Four{};
    Four y = load_four(x, d, D, true);
    for (int j = 0; j < 4; ++j) y.at[j] = (y.at[j] - mean) * rstd * gamma.at[j] + beta.at[j];
    store_four(a.y, n, d, a.wide, y);
  }
  if (lane() == 0) {
    a.mean(n) = mean;
    a.rstd(n) = rstd;
  }
}

// One warp per row. It keeps the sums in shared memory as they are before rounding, and reads x and r from memory once.
__global__ void norm_kernel(Norm a, Mask mask) {
  const int64_t warp = threadIdx.x / warp_size, n = int64_t{blockIdx.x} * (blockDim.x / warp_size) + warp;
  const int64_t D = a.x.cols;
  if (n >= a.x.rows) return;
  float* const sums = dynamic_shared<float>() + warp * floats_of_row(D);
  RowMask row_mask(mask, n);
  for (int64_t first = 0; first < D; first += columns_at_a_time) {
    const Four factors = row_mask.of(first);
    const int64_t d = first + 4 * lane();
    if (d >= D) continue;
    Four sum = load_four(a.x, n, d, a.wide);
    if (a.r) {
      const Four r = load_four(a.r, n, d, a.wide);
      for (int j = 0; j < 4; ++j) sum.at[j] += factors.at[j] * r.at[j];
      store_four(a.sum, n, d, a.wide, sum);
    }
    store_four(sums, d, D, true, sum);
  }
  __syncwarp();  // lanes read sums written by others
  normalise(a, sums, n);
}

void residual_norm(const Backend::ResidualNorm& a) {
  const int64_t N = a.x.rows(), D = a.x.cols(), bytes = floats_of_row(D) * int64_t{sizeof(float)};
  require(bytes <= most_shared, "a norm on a GPU can have at most {} columns, found {}", most_shared / sizeof(float),
          D);
  const int64_t count = warps_for(bytes, most_warps_forward);
  const Values y(a.y), sum(a.sum), x(a.x), r(a.r);
  const bool wide = in_fours(y) && in_fours(sum) && in_fours(x) && in_fours(r) && in_fours(Values(a.gamma)) &&
                    in_fours(Values(a.beta));
  launch(norm_kernel, dim3(blocks_of(N, count)), dim3(unsigned(count * warp_size)), count * bytes,
         Norm{y, sum, x, r, view<float>(a.mean), view<float>(a.rstd), view<const float>(a.gamma),
              view<const float>(a.beta), float(a.eps), wide},
         Mask(a.dropout));
}

void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
                const Tensor& beta, double eps) {
  residual_norm({.y = y, .mean = mean, .rstd = rstd, .x = x, .gamma = gamma, .beta = beta, .eps = eps});
}

// The backward pass is one kernel that reads dy and the sum from memory once: a warp handles a row at a time, in two
// passes of which the second finds the row in the cache. That pass also adds the row to the warp's sums for the
// gradients of gamma and beta, in shared memory; if that is too small, a block has one warp, which adds to the block's
// sums.
constexpr int64_t most_blocks = 264;  // two for each multiprocessor of an H100; each writes 2D partial sums

struct NormBack {
  Put dx, dr;
  Values dy, sum;
  View<const float> mean, rstd, gamma;
  View<float> sums;  // a row per block: Σ dy · n (D), Σ dy (D); empty if not wanted
  bool centred, wide, in_shared;

  __device__ int64_t rows() const { return sum.rows; }
  __device__ int64_t cols() const { return sum.cols; }
};

/// The part of a row that a lane handles at a time: dy, n = (sum - mean) · rstd and g = dy · gamma.
struct Part {
  Four dy, normed, g;

  __device__ Part(const NormBack& b, int64_t n, int64_t d) : dy(load_four(b.dy, n, d, b.wide)) {
    const Four sum = load_four(b.sum, n, d, b.wide), gamma = load_four(b.gamma.data, d, b.cols(), b.wide);
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
  const int64_t count = warps_for(bytes, most_warps_backward);
  const int64_t blocks = std::min<int64_t>(most_blocks, blocks_of(N, count));
  const Put dx(b.dx), dr(b.dr);
  const Values dy(b.dy), sum(b.sum);
  const bool wide =
      D % 4 == 0 && in_fours(dx.to) && in_fours(dr.to) && in_fours(dy) && in_fours(sum) && in_fours(Values(b.gamma));
  const View<float> sums{static_cast<float*>(b.scratch.data()), blocks, 2 * D, 2 * D};
  const bool parameters = b.dgamma || b.dbeta, in_shared = parameters && bytes <= most_shared;
  launch(norm_backward_kernel, dim3(unsigned(blocks)), dim3(unsigned(count * warp_size)), in_shared ? count * bytes : 0,
         NormBack{dx, dr, dy, sum, view<const float>(b.mean), view<const float>(b.rstd), view<const float>(b.gamma),
                  parameters ? sums : View<float>{}, b.centred, wide, in_shared},
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
