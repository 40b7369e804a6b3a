#include <limits>

#include "backend/backend.h"
#include "backend/cuda/columns.cuh"
#include "backend/cuda/families.h"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

struct Statistics {
  View<float> mean, rstd, running_mean, running_variance;
  float eps, momentum;
};

__global__ void statistics_kernel(Statistics s, View<const float> x) {
  const int64_t d = column_of_thread(blockIdx.x);
  const bool in_range = d < x.cols;
  const float N = x.rows > 0 ? float(x.rows) : 1.f;
  float sum = 0, squares = 0;
  if (in_range)
    for (int64_t n = row_of_thread(); n < x.rows; n += warps_of_columns) sum += x(n, d);
  const float mean = column_sum(sum) / N;
  if (in_range)
    for (int64_t n = row_of_thread(); n < x.rows; n += warps_of_columns) squares += (x(n, d) - mean) * (x(n, d) - mean);
  squares = column_sum(squares);
  if (!in_range || row_of_thread() != 0) return;
  s.mean(d) = mean;
  s.rstd(d) = 1 / sqrtf(squares / N + s.eps);
  if (x.rows < 2 || !(squares < std::numeric_limits<float>::infinity())) return;
  s.running_mean(d) += s.momentum * (mean - s.running_mean(d));
  s.running_variance(d) += s.momentum * (squares / (N - 1) - s.running_variance(d));
}

// Algorithms 1 and 2 of Ioffe & Szegedy 2015.
void batch_norm(const Backend::BatchNorm& a) {
  const int64_t D = a.x.cols();
  const Statistics s{
      view<float>(a.mean), view<float>(a.rstd), view<float>(a.running_mean), view<float>(a.running_variance),
      float(a.eps),        float(a.momentum)};
  const auto x = view<const float>(a.x), gamma = view<const float>(a.gamma), beta = view<const float>(a.beta);
  const auto y = view<float>(a.y);
  if (a.momentum > 0)
    launch(statistics_kernel, dim3(blocks_of(D, warp_size)), dim3(threads_per_block), 0, s, x);
  else
    each_element(1, D, [=] __device__(int64_t, int64_t d) {
      s.mean(d) = s.running_mean(d);
      s.rstd(d) = 1 / sqrtf(s.running_variance(d) + s.eps);
    });
  each_element(x.rows, D, [=] __device__(int64_t n, int64_t d) {
    y(n, d) = (x(n, d) - s.mean(d)) * s.rstd(d) * gamma(d) + beta(d);
  });
}

struct BatchNormBack {
  Put dgamma, dbeta;
  View<const float> dy, x, mean, rstd;
  View<float> sums;

  __device__ float normed(int64_t n, int64_t d) const { return (x(n, d) - mean(d)) * rstd(d); }
};

__global__ void gradient_kernel(BatchNormBack b) {
  const int64_t d = column_of_thread(blockIdx.x);
  float dgamma = 0, dbeta = 0;
  if (d < b.x.cols)
    for (int64_t n = row_of_thread(); n < b.x.rows; n += warps_of_columns) {
      dgamma += b.dy(n, d) * b.normed(n, d);
      dbeta += b.dy(n, d);
    }
  dgamma = column_sum(dgamma);
  dbeta = column_sum(dbeta);
  if (d >= b.x.cols || row_of_thread() != 0) return;
  b.dgamma(0, d, dgamma);
  b.dbeta(0, d, dbeta);
  b.sums(0, d) = dgamma;
  b.sums(1, d) = dbeta;
}

// dx = gamma · rstd · (dy - Σ dy / N - n · Σ (dy · n) / N), where mean and rstd are of the rows
void batch_norm_backward(const Backend::BatchNormBackward& b) {
  const BatchNormBack back{Put(b.dgamma),
                           Put(b.dbeta),
                           view<const float>(b.dy),
                           view<const float>(b.x),
                           view<const float>(b.mean),
                           view<const float>(b.rstd),
                           view<float>(b.sums)};
  const int64_t N = b.x.rows(), D = b.x.cols();
  launch(gradient_kernel, dim3(blocks_of(D, warp_size)), dim3(threads_per_block), 0, back);
  if (!b.dx) return;
  const Put dx(b.dx);
  const auto gamma = view<const float>(b.gamma);
  const float share = b.of_rows && N > 0 ? 1 / float(N) : 0.f;
  each_element(N, D, [=] __device__(int64_t n, int64_t d) {
    const float moved = share * (back.sums(1, d) + back.normed(n, d) * back.sums(0, d));
    dx(n, d, gamma(d) * back.rstd(d) * (back.dy(n, d) - moved));
  });
}

}  // namespace

void install_batch_norm(Backend& b) {
  b.batch_norm = batch_norm;
  b.batch_norm_backward = batch_norm_backward;
}

}  // namespace dragoman::cuda
