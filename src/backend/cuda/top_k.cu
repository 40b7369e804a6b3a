#include <bit>
#include <cfloat>

#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"

namespace dragoman::cuda {
namespace {

constexpr int threads_per_row = 512;

/// A piece and its logit as one number, larger for larger logits and, among equal ones, for lower ids. 0: none.
using Candidate = unsigned long long;

__device__ Candidate candidate(float logit, int64_t id) {
  if (logit != logit) return 0;                            // NaN is never chosen
  const auto bits = std::bit_cast<uint32_t>(logit + 0.f);  // -0 equals 0
  const uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return Candidate{rising} << 32 | uint32_t(~id);
}
__device__ float logit_of(Candidate c) {
  const auto rising = uint32_t(c >> 32);
  return std::bit_cast<float>(rising >> 31 ? rising ^ 0x80000000u : ~rising);
}
__device__ int32_t id_of(Candidate c) { return int32_t(~uint32_t(c)); }

struct LargerCandidate {
  __device__ Candidate operator()(Candidate a, Candidate b) const { return a > b ? a : b; }
};

/// What a thread has seen of a row: its `count` best candidates, best first, and the sum of exp(logit - highest).
template <int count>
struct Seen {
  Candidate best[count] = {};
  float highest = -INFINITY, sum = 0, wrong = 0;

  __device__ void take(float logit, int64_t id, Candidate limit) {
    Candidate next = candidate(logit, id);
    if (next < limit && next > best[count - 1]) {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const Candidate kept = best[i];
        best[i] = next > kept ? next : kept;
        next = next > kept ? kept : next;
      }
    }
    wrong += logit != logit ? 1.f : 0.f;
  }
  // The online softmax of Milakov & Gimelshein 2018, which is rescaled at most once for four logits.
  __device__ void add(const Four& logits) {
    const float top = fmaxf(fmaxf(logits.at[0], logits.at[1]), fmaxf(logits.at[2], logits.at[3]));
    if (top > highest) {
      sum *= expf(highest - top);
      highest = top;
    }
    if (highest == -INFINITY) return;
    for (int j = 0; j < 4; ++j) sum += expf(logits.at[j] - highest);
  }
  __device__ void drop_first() {
#pragma unroll
    for (int i = 1; i < count; ++i) best[i - 1] = best[i];
    best[count - 1] = 0;
  }
};

struct TopK {
  View<float> values;
  View<int32_t> ids;
  View<float> lse;
  View<const float> logits;
  bool wide;
};

// One block per row. Each thread keeps its own best, so that the logits are read once for every `count` results; the
// best of all threads is then taken `count` times. A thread reads some logits before it looks at them, so that the
// reads overlap.
template <int count>
__global__ void top_k_kernel(TopK a) {
  const int64_t r = blockIdx.x, V = a.logits.cols;
  const float* z = a.logits.row(r);
  Candidate limit = ~Candidate{0};
  bool wrong = false;
  for (int64_t first = 0; first < a.values.cols; first += count) {
    Seen<count> seen;
    constexpr int64_t at_once = 4, step = 4 * threads_per_row;
    for (int64_t from = 4 * int64_t{threadIdx.x}; from < V; from += at_once * step) {
      Four some[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int64_t v = from + i * step;
        if (v < V) some[i] = load_four(z, v, V, a.wide);
        for (int j = 0; j < 4; ++j)
          if (v + j >= V) some[i].at[j] = -INFINITY;
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const int64_t v = from + i * step;
        for (int j = 0; j < 4 && v + j < V; ++j) seen.take(some[i].at[j], v + j, limit);
        if (a.lse && first == 0) seen.add(some[i]);
      }
    }
    if (first == 0) {
      wrong = block_reduce(seen.wrong, 0.f, Plus{}) > 0;
      if (a.lse) {
        const float highest = block_reduce(seen.highest, -INFINITY, Larger{});
        const float share = seen.sum > 0 ? seen.sum * expf(seen.highest - highest) : 0.f;
        const float sum = block_reduce(share, 0.f, Plus{});
        if (threadIdx.x == 0) a.lse(r) = wrong ? NAN : highest + logf(sum);
      }
    }
    for (int64_t i = first; i < a.values.cols && i < first + count; ++i) {
      limit = block_reduce(seen.best[0], Candidate{0}, LargerCandidate{});
      if (seen.best[0] == limit) seen.drop_first();
      if (threadIdx.x != 0) continue;
      a.values(r, i) = wrong ? NAN : limit == 0 ? -INFINITY : logit_of(limit);
      a.ids(r, i) = limit == 0 ? 0 : id_of(limit);
    }
  }
}

// values (R,k)  ids (R,k)  lse (R)  logits (R,V)
void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  const TopK a{view<float>(values), view<int32_t>(ids), view<float>(lse), view<const float>(logits),
               in_fours(Values(logits))};
  const int64_t k = values.cols();
  launch(k == 1   ? top_k_kernel<1>
         : k <= 4 ? top_k_kernel<4>
                  : top_k_kernel<8>,
         dim3(unsigned(logits.rows())), dim3(threads_per_row), 0, a);
}

}  // namespace

void install_top_k(Backend& b) { b.top_k = top_k; }

}  // namespace dragoman::cuda
