#include "backend/backend.h"
#include "backend/cuda/columns.cuh"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"
#include "backend/cuda/mask.cuh"

namespace dragoman::cuda {
namespace {

// A warp handles a row, or several a long one: `parts` times 128 columns each, of which a lane keeps 4·lane to 4·lane +
// 3 in registers.
constexpr int columns_at_a_time = 4 * warp_size;
constexpr int most_warps = 8, usual_parts = 8, most_parts = 16;
constexpr int64_t most_columns = int64_t{most_warps} * most_parts * columns_at_a_time;
constexpr int warps_forward = 4, warps_backward = 8;  // of a block, if a warp handles a row

int warps_of_row(int64_t D) {
  require(D <= most_columns, "a norm on a GPU can have at most {} columns, found {}", most_columns, D);
  return std::clamp(int(blocks_of(D, usual_parts * columns_at_a_time)), 1, most_warps);
}

/// Calls f.operator()<T, parts>() with the fewest parts, of some numbers, that a warp needs for its share of D columns.
template <class T, class F>
void for_parts(int64_t D, const F& f) {
  const int64_t parts = blocks_of(D, warps_of_row(D) * columns_at_a_time);
  if (parts > usual_parts) return f.template operator()<T, most_parts>();
  if (parts > 4) return f.template operator()<T, usual_parts>();
  if constexpr (known<T>) {
    if (parts <= 1) return f.template operator()<T, 1>();
    if (parts <= 2) return f.template operator()<T, 2>();
  }
  f.template operator()<T, 4>();
}

/// The same where T is `type`, that of r and y, or of dr. If the kernel cannot know it, T is Unknown.
template <class F>
void for_rows(int64_t D, bool can_know, DType type, const F& f) {
  if (!can_know || D % 4 != 0) return for_parts<Unknown>(D, f);
  for_factor(type, [&]<class T>() { for_parts<T>(D, f); });
}

__device__ int lane() { return int(threadIdx.x % warp_size); }
__device__ int warp() { return int(threadIdx.x / warp_size); }

/// The rows of a block: as many as it has warps, or one that all of them share.
struct RowsOfBlock {
  int count;  // of rows

  __device__ explicit RowsOfBlock(int warps_of_row) : count(warps_of_row > 1 ? 1 : int(blockDim.x / warp_size)) {}
  __device__ int own() const { return count > 1 ? warp() : 0; }
  /// The first column of this warp.
  __device__ int column(int parts) const { return count > 1 ? 0 : warp() * parts * columns_at_a_time; }
  /// The sum over all columns of a row. All threads that share it must call.
  __device__ float sum(float mine) const {
    return count > 1 || blockDim.x == warp_size ? warp_sum(mine) : block_reduce(mine, 0.f, Plus{});
  }
};

/// Dropout factors of a lane's columns. A unit's eight columns are 16 apart, so one call of Philox per lane serves 256
/// columns of the warp, and lanes exchange the mask bits of their columns. All lanes must call `of`, for the parts
/// 0, 1, 2, … of a row in turn. The constructor already reads what the draws need.
class RowMask {
 public:
  /// `first`: of the warp's columns, a multiple of 256.
  __device__ RowMask(const Mask& mask, int64_t n, int first)
      : mask_(mask), position_(mask.position_of(n)), unit_(first / columns_at_a_time * 16 + lane()) {}
  __device__ Four of(int part) {
    Four factors{{1, 1, 1, 1}};
    if (!mask_.positions) return factors;
    if (part % 2 == 0) kept_ = mask_.kept(position_, unit_ + part * 16);
    for (int j = 0; j < 4; ++j) {
      const unsigned bits = __shfl_sync(0xffffffffu, kept_, part % 2 * 16 + lane() % 4 * 4 + j);
      factors.at[j] = bits >> lane() / 4 & 1 ? mask_.scale : 0.f;
    }
    return factors;
  }

 private:
  const Mask& mask_;
  const Mask::Position position_;
  const int unit_;
  unsigned kept_ = 0;
};

/// y = norm(sum),  sum = x + mask · r. Without r, the sum is x and not stored.
struct Norm {
  Values y, sum, x, r;
  View<float> mean, rstd;
  View<const float> gamma, beta;
  float eps;
  bool wide;
  int warps_of_row;
};

/// Columns d to d + 3 of gamma or beta.
template <class T>
__device__ Four load_parameters(const View<const float>& x, int d, bool wide) {
  const int64_t column = d;  // in 32 bits, the comparison with the number of columns would remain
  return load_four(x.data, column, known<T> ? column + 4 : x.cols, known<T> || wide);
}

/// A row's sums in a lane's columns from `first` on, as they are before they are rounded; 0 beyond the row. Stores them
/// too.
template <class T, int parts>
__device__ void add_row(Four (&sums)[parts], const Norm& a, const Mask& mask, int64_t n, int first) {
  const int D = int(a.x.cols);
  StoredFour x[parts], r[parts];
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int d = first + p * columns_at_a_time + 4 * lane();
    if (d >= D) continue;
    x[p] = load_stored<IfKnown<InFours, T>>(a.x, n, d, a.wide);
    if (a.r) r[p] = load_stored<T>(a.r, n, d, a.wide);
  }
  RowMask row_mask(mask, n, first);
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int begin = first + p * columns_at_a_time, d = begin + 4 * lane();
    if (begin >= D) break;
    sums[p] = widened<IfKnown<InFours, T>>(x[p], a.x);
    if (!a.r) continue;
    const Four factors = row_mask.of(p), added = widened<T>(r[p], a.r);
    for (int j = 0; j < 4; ++j) sums[p].at[j] += factors.at[j] * added.at[j];
    if (d < D) store_four<IfKnown<float, T>>(a.sum, n, d, a.wide, sums[p]);
  }
}

// y = (sum - mean) · rstd · gamma + beta
template <class T, int parts>
__global__ void norm_kernel(Norm a, Mask mask) {
  const RowsOfBlock rows(a.warps_of_row);
  const int64_t n = int64_t{blockIdx.x} * rows.count + rows.own();
  const int D = int(a.x.cols), first = rows.column(parts), own = first + 4 * lane();
  if (n >= a.x.rows) return;
  Four sums[parts] = {};
  add_row<T>(sums, a, mask, n, first);
  float total = 0, squares = 0;
#pragma unroll
  for (int p = 0; p < parts; ++p)
    for (const float one : sums[p].at) total += one;
  const float mean = a.beta ? rows.sum(total) / float(D) : 0.f;
#pragma unroll
  for (int p = 0; p < parts; ++p)
    for (int j = 0; j < 4; ++j)
      if (own + p * columns_at_a_time + (known<T> ? 0 : j) < D)
        squares += (sums[p].at[j] - mean) * (sums[p].at[j] - mean);
  const float rstd = 1 / sqrtf(rows.sum(squares) / float(D) + a.eps);
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int d = own + p * columns_at_a_time;
    if (d >= D) break;
    const Four gamma = load_parameters<T>(a.gamma, d, a.wide);
    const Four beta = a.beta ? load_parameters<T>(a.beta, d, a.wide) : Four{};
    Four y;
    for (int j = 0; j < 4; ++j) y.at[j] = (sums[p].at[j] - mean) * rstd * gamma.at[j] + beta.at[j];
    store_four<T>(a.y, n, d, a.wide, y);
  }
  if (own > 0) return;
  a.mean(n) = mean;
  a.rstd(n) = rstd;
}

void residual_norm(const Backend::ResidualNorm& a) {
  const int64_t N = a.x.rows(), D = a.x.cols();
  const Values y(a.y), sum(a.sum), x(a.x), r(a.r);
  const bool wide = in_fours(y) && in_fours(sum) && in_fours(x) && in_fours(r) && in_fours(Values(a.gamma)) &&
                    in_fours(Values(a.beta));
  const int share = warps_of_row(D);
  const int64_t warps = share > 1 ? share : warps_forward, rows = share > 1 ? 1 : warps;
  const bool can_know = wide && all_are(DType::f32, {sum}) && all_are(y.type, {r});
  for_rows(D, can_know, y.type, [&]<class T, int parts>() {
    launch(norm_kernel<T, parts>, dim3(blocks_of(N, rows)), dim3(unsigned(warps * warp_size)), 0,
           Norm{y, sum, x, r, view<float>(a.mean), view<float>(a.rstd), view<const float>(a.gamma),
                view<const float>(a.beta), float(a.eps), wide, share},
           Mask(a.dropout));
  });
}

void layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gamma,
                const Tensor& beta, double eps) {
  residual_norm({.y = y, .mean = mean, .rstd = rstd, .x = x, .gamma = gamma, .beta = beta, .eps = eps});
}

// The backward pass is one kernel that reads dy and the sum from memory once. A warp handles a row at a time while it
// waits for the next one, and adds to its sums for the gradients of gamma and beta, which are joined at the end.
constexpr int64_t most_blocks = 264;  // two for each multiprocessor of an H100; each writes 2D partial sums

struct NormBack {
  Put dx, dr;
  Values dy, sum;
  View<const float> mean, rstd, gamma;
  View<float> sums;  // a row per block: Σ dy · n (D), Σ dy (D); empty if not wanted
  bool centred, wide;
  int warps_of_row;

  __device__ int64_t rows() const { return sum.rows; }
  __device__ int cols() const { return int(sum.cols); }
};

/// What a lane reads of a row.
template <class T, int parts>
struct StoredRow {
  StoredFour dy[parts], sum[parts];
  float mean, rstd;

  /// Does nothing beyond the last row.
  __device__ void read(const NormBack& b, int64_t n, int first) {
    if (n >= b.rows()) return;
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      const int d = first + p * columns_at_a_time + 4 * lane();
      if (d >= b.cols()) continue;
      dy[p] = load_stored<IfKnown<float, T>>(b.dy, n, d, b.wide);
      sum[p] = load_stored<IfKnown<float, T>>(b.sum, n, d, b.wide);
    }
    mean = b.mean(n), rstd = b.rstd(n);
  }
};

/// dy and n = (sum - mean) · rstd in a lane's columns. Beyond the row dy is 0.
template <int parts>
struct RowOfLane {
  Four dy[parts], normed[parts];

  template <class T>
  __device__ RowOfLane(const NormBack& b, const StoredRow<T, parts>& row) {
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      dy[p] = widened<IfKnown<float, T>>(row.dy[p], b.dy);
      normed[p] = widened<IfKnown<float, T>>(row.sum[p], b.sum);
      for (int j = 0; j < 4; ++j) normed[p].at[j] = (normed[p].at[j] - row.mean) * row.rstd;
    }
  }
};

/// Sums over rows of dy · n and dy in a lane's columns.
template <int parts>
struct ParameterSums {
  Four gamma[parts] = {}, beta[parts] = {};

  __device__ void add(const RowOfLane<parts>& row) {
#pragma unroll
    for (int p = 0; p < parts; ++p)
      for (int j = 0; j < 4; ++j) {
        gamma[p].at[j] += row.dy[p].at[j] * row.normed[p].at[j];
        beta[p].at[j] += row.dy[p].at[j];
      }
  }
  /// Adds the sums of a block's rows in their order, in shared memory, and writes them to `all`, (2D).
  __device__ void join(float* all, int D, const RowsOfBlock& rows) const {
    float* const joined = rows.count > 1 ? dynamic_shared<float>() : all;
    for (int r = 0; r < rows.count; ++r) {
      if (r == rows.own())
#pragma unroll
        for (int p = 0; p < parts; ++p)
          for (int j = 0; j < 4; ++j)
            if (const int d = rows.column(parts) + p * columns_at_a_time + 4 * lane() + j; d < D) {
              joined[d] = (r > 0 ? joined[d] : 0.f) + gamma[p].at[j];
              joined[D + d] = (r > 0 ? joined[D + d] : 0.f) + beta[p].at[j];
            }
      __syncthreads();
    }
    for (int i = int(threadIdx.x); joined != all && i < 2 * D; i += int(blockDim.x)) all[i] = joined[i];
  }
};

// dx = rstd · (g - mean(g) - n · mean(g · n)),  g = dy · gamma;  dr = mask · dx
template <class T, int parts>
__device__ void row_backward(const NormBack& b, const Mask& mask, int64_t n, RowOfLane<parts> row, float rstd,
                             const RowsOfBlock& rows) {
  const int D = b.cols(), first = rows.column(parts);
  float g_sum = 0, gn_sum = 0;
  Four(&g)[parts] = row.dy;
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    const int d = first + p * columns_at_a_time + 4 * lane();
    const Four gamma = d < D ? load_parameters<T>(b.gamma, d, b.wide) : Four{};
    for (int j = 0; j < 4; ++j) {
      g[p].at[j] = known<T> || d + j < D ? g[p].at[j] * gamma.at[j] : 0.f;
      g_sum += g[p].at[j];
      gn_sum += g[p].at[j] * row.normed[p].at[j];
    }
  }
  RowMask row_mask(mask, n, first);
  const float mean_g = b.centred ? rows.sum(g_sum) / float(D) : 0.f, mean_gn = rows.sum(gn_sum) / float(D);
#pragma unroll
  for (int p = 0; p < parts; ++p) {
    if (first + p * columns_at_a_time >= D) break;
    const Four factors = row_mask.of(p);
    const int d = first + p * columns_at_a_time + 4 * lane();
    if (d >= D) continue;
    Four dx, dr;
    for (int j = 0; j < 4; ++j) {
      dx.at[j] = rstd * (g[p].at[j] - mean_g - row.normed[p].at[j] * mean_gn);
      dr.at[j] = factors.at[j] * dx.at[j];
    }
    put_four<IfKnown<float, T>>(b.dx, n, d, b.wide, dx);
    put_four<T>(b.dr, n, d, b.wide, dr);
  }
}

template <class T, int parts>
__global__ void __launch_bounds__(warps_backward* warp_size, parts < usual_parts ? 2 : 1)
    norm_backward_kernel(NormBack b, Mask mask) {
  const RowsOfBlock rows(b.warps_of_row);
  const int first = rows.column(parts);
  const int64_t step = int64_t{gridDim.x} * rows.count;
  ParameterSums<parts> sums;
  StoredRow<T, parts> next;
  int64_t n = int64_t{blockIdx.x} * rows.count + rows.own();
  next.read(b, n, first);
  for (; n < b.rows(); n += step) {
    const RowOfLane<parts> row(b, next);
    const float rstd = next.rstd;
    next.read(b, n + step, first);
    sums.add(row);
    row_backward<T>(b, mask, n, row, rstd, rows);
  }
  if (b.sums) sums.join(b.sums.row(blockIdx.x), b.cols(), rows);
}

void norm_backward(const Backend::NormBackward& b) {
  const int64_t N = b.sum.rows(), D = b.sum.cols();
  const int share = warps_of_row(D);
  const int64_t warps = share > 1 ? share : warps_backward;
  const int64_t blocks = std::min<int64_t>(most_blocks, blocks_of(N, share > 1 ? 1 : warps));
  const Put dx(b.dx), dr(b.dr);
  const Values dy(b.dy), sum(b.sum);
  const bool wide = in_fours(dx.to) && in_fours(dr.to) && in_fours(dy) && in_fours(sum) && in_fours(Values(b.gamma));
  const View<float> sums{static_cast<float*>(b.scratch.data()), blocks, 2 * D, 2 * D};
  const bool parameters = b.dgamma || b.dbeta;
  const int64_t shared = parameters && share == 1 ? 2 * D * int64_t{sizeof(float)} : 0;
  const bool can_know = wide && all_are(DType::f32, {dx.to, dy, sum});
  for_rows(D, can_know, dr.to.type, [&]<class T, int parts>() {
    launch(norm_backward_kernel<T, parts>, dim3(unsigned(blocks)), dim3(unsigned(warps * warp_size)), shared,
           NormBack{dx, dr, dy, sum, view<const float>(b.mean), view<const float>(b.rstd), view<const float>(b.gamma),
                    parameters ? sums : View<float>{}, b.centred, wide, share},
           Mask(b.dropout));
  });
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
