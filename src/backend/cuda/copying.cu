#include "backend/backend.h"
#include "backend/copying.h"
#include "backend/cuda/device.cuh"

#include <limits>

#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

struct Step {
  View<float> y, scores;              // (R,V)  (R,T)
  View<const float> lse, q, k, gate;  // (R)  (R,K)  (C,K)  (R,1)
  const int32_t *begin, *length;      // (R)
  View<const int32_t> pieces;         // (R,T)
  float scale;
};

// One block per row. A piece may occur more than once in the source, so a single thread adds the copies, in order.
__global__ void copy_step_kernel(Step c) {
  const int64_t r = blockIdx.x, first = c.begin[r], count = c.length[r];
  const float lowest = -std::numeric_limits<float>::infinity();
  float top = lowest, sum = 0;
  for (int64_t t = threadIdx.x; t < count; t += blockDim.x) {
    float dot = 0;
    for (int64_t d = 0; d < c.q.cols; ++d) dot += c.q(r, d) * c.k(first + t, d);
    c.scores(r, t) = c.scale * dot;
    top = fmaxf(top, c.scale * dot);
  }
  top = block_reduce(top, lowest, Larger{});
  for (int64_t t = threadIdx.x; t < count; t += blockDim.x) sum += expf(c.scores(r, t) - top);
  sum = block_reduce(sum, 0.f, Plus{});
  const float gate = c.gate(r, 0);
  const float generated = log_sigmoid(gate) - c.lse(r), copied = log_sigmoid(-gate) - top - logf(sum);
  for (int64_t v = threadIdx.x; v < c.y.cols; v += blockDim.x) c.y(r, v) += generated;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int64_t t = 0; t < count; ++t) {
    float& log_prob = c.y(r, c.pieces(r, t));
    log_prob = log_add(log_prob, copied + c.scores(r, t));
  }
}

void copy_step(const Backend::CopyStep& c) {
  launch(copy_step_kernel, dim3(unsigned(c.y.rows())), dim3(threads_per_block), 0,
         Step{view<float>(c.y), view<float>(c.scores), view<const float>(c.lse), view<const float>(c.q),
              view<const float>(c.k), view<const float>(c.gate), integers(c.keys.begin), integers(c.keys.length),
              view<const int32_t>(c.pieces), float(score_scale(Score::scaled_dot, c.q.cols()))});
}

}  // namespace

void install_copying(Backend& b) { b.copy_step = copy_step; }

}  // namespace dragoman::cuda
