#include <bit>
#include <cstdint>

#include "backend/cuda/families.h"
#include "backend/cuda/four.cuh"

namespace dragoman::cuda {
namespace {

constexpr int threads_per_row = 512;

/// An integer in the order of logits: larger for larger ones, the same for 0 and -0, and least for NaN.
__device__ int32_t ordinal_of(float logit) {
  const auto bits = std::bit_cast<int32_t>(logit + 0.f);  // -0 + 0 is 0
  return logit != logit ? INT32_MIN : bits >= 0 ? bits : bits ^ INT32_MAX;
}
__device__ float logit_of(int32_t ordinal) {
  return std::bit_cast<float>(ordinal >= 0 ? ordinal : ordinal ^ INT32_MAX);
}

/// A piece and the ordinal of its logit as one number, larger for better ones: among equal logits, for lower ids.
using Candidate = unsigned long long;
constexpr Candidate none = 0;

struct LargerCandidate {
  __device__ Candidate operator()(Candidate a, Candidate b) const { return a > b ? a : b; }
};

/// The two best pieces that a thread has seen, the lower id on ties, if it sees ids in ascending order.
struct BestTwo {
  int32_t ordinal = INT32_MIN, id = 0, second_ordinal = INT32_MIN, second_id = 0;

  __device__ void take(int32_t ordinal_seen, int32_t id_seen) {
    const bool best = ordinal_seen > ordinal, second = ordinal_seen > second_ordinal;
    second_ordinal = best ? ordinal : second ? ordinal_seen : second_ordinal;
    second_id = best ? id : second ? id_seen : second_id;
    ordinal = best ? ordinal_seen : ordinal;
    id = best ? id_seen : id;
  }
  __device__ Candidate candidate() const {
    return ordinal == INT32_MIN ? none : Candidate{uint32_t(ordinal) ^ 0x80000000u} << 32 | uint32_t(~id);
  }
  __device__ void drop_best() {
    ordinal = second_ordinal, id = second_id;
    second_ordinal = INT32_MIN;
  }
};

/// The sum of exp(logit - highest): the online softmax of Milakov & Gimelshein 2018, which is rescaled at most once for
/// four logits.
struct ExpSum {
  float highest = -INFINITY, sum = 0;

  __device__ void add(const Four& logits) {
    const float top = fmaxf(fmaxf(logits.at[0], logits.at[1]), fmaxf(logits.at[2], logits.at[3]));
    if (top > highest) {
      sum *= expf(highest - top);
      highest = top;
    }
    if (highest == -INFINITY) return;
    for (int j = 0; j < 4; ++j) sum += expf(logits.at[j] - highest);
  }
};

struct TopK {
  View<float> values;
  View<int32_t> ids;
  View<float> lse;
  View<const float> logits;
  bool wide;
};

/// Calls f(four logits, id of the first) for the thread's share of a row; logits beyond the row are -inf. Some are read
/// before the first is looked at, so that the reads overlap.
template <class F>
__device__ void each_four_of_thread(const TopK& a, int64_t r, const F& f) {
  const int64_t V = a.logits.cols;
  const float* z = a.logits.row(r);
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
    for (int i = 0; i < at_once; ++i)
      if (const int64_t v = from + i * step; v < V) f(some[i], v);
  }
}

/// The thread's two best pieces of row r after that of this ordinal and id.
__device__ BestTwo best_after(const TopK& a, int64_t r, int32_t ordinal, int32_t id) {
  BestTwo best;
  each_four_of_thread(a, r, [&](const Four& logits, int64_t v) {
    for (int j = 0; j < 4 && v + j < a.logits.cols; ++j) {
      const int32_t here = ordinal_of(logits.at[j]), piece = int32_t(v + j);
      if (here < ordinal || (here == ordinal && piece > id)) best.take(here, piece);
    }
  });
  return best;
}

// One block per row. Each thread finds the two best pieces of its share, and the best one of all threads is taken k
// times. A thread that has given both away, which is rare, looks at its share again.
__global__ void top_k_kernel(TopK a) {
  const int64_t r = blockIdx.x, V = a.logits.cols;
  BestTwo best;
  ExpSum exps;
  float wrong = 0;
  each_four_of_thread(a, r, [&](const Four& logits, int64_t v) {
    for (int j = 0; j < 4; ++j) {
      wrong += logits.at[j] != logits.at[j] ? 1.f : 0.f;
      if (v + j < V) best.take(ordinal_of(logits.at[j]), int32_t(v + j));
    }
    if (a.lse) exps.add(logits);
  });
  wrong = block_reduce(wrong, 0.f, Plus{});
  if (a.lse) {
    const float highest = block_reduce(exps.highest, -INFINITY, Larger{});
    const float share = exps.sum > 0 ? exps.sum * expf(exps.highest - highest) : 0.f;
    const float sum = block_reduce(share, 0.f, Plus{});
    if (threadIdx.x == 0) a.lse(r) = wrong > 0 ? NAN : highest + logf(sum);
  }
  for (int64_t i = 0; i < a.values.cols; ++i) {
    const Candidate own = best.candidate(), top = block_reduce(own, none, LargerCandidate{});
    const auto ordinal = int32_t(uint32_t(top >> 32) ^ 0x80000000u), id = int32_t(~uint32_t(top));
    if (own == top && top != none) {
      best.drop_best();
      if (best.candidate() == none) best = best_after(a, r, ordinal, id);
    }
    if (threadIdx.x != 0) continue;
    a.values(r, i) = wrong > 0 ? NAN : top == none ? -INFINITY : logit_of(ordinal);
    a.ids(r, i) = top == none ? 0 : id;
  }
}

// values (R,k)  ids (R,k)  lse (R)  logits (R,V)
void top_k(const Tensor& values, const Tensor& ids, const Tensor& lse, const Tensor& logits) {
  const TopK a{view<float>(values), view<int32_t>(ids), view<float>(lse), view<const float>(logits),
               in_fours(Values(logits))};
  launch(top_k_kernel, dim3(unsigned(logits.rows())), dim3(threads_per_row), 0, a);
}

}  // namespace

void install_top_k(Backend& b) { b.top_k = top_k; }

}  // namespace dragoman::cuda
