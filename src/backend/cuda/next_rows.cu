#include "backend/backend.h"
#include "backend/cuda/device.cuh"
#include "backend/cuda/families.h"

namespace dragoman::cuda {
namespace {

struct Candidate {
  double log_prob = -INFINITY;
  int32_t parent = INT32_MAX, id = INT32_MAX;
};

__device__ bool better(const Candidate& a, const Candidate& b) {
  if (a.log_prob != b.log_prob) return a.log_prob > b.log_prob;
  return a.parent != b.parent ? a.parent < b.parent : a.id < b.id;
}

struct Next {
  int32_t *tokens, *parents, *ids;
  View<int32_t> table;
  View<const int32_t> best;
  View<const float> scores, lse;
  const int32_t *first, *step_first, *compared;
  const double* log_probs;
  View<const int32_t> past;
  const int32_t *length, *suppressed;
  int64_t sentences, suppressed_count;
  int32_t end;

  __device__ bool allows(int32_t id) const {
    for (int64_t i = 0; i < suppressed_count; ++i)
      if (suppressed[i] == id) return false;
    return true;
  }
  /// The i-th best continuation of row r, which is row q of the step. NaN is none.
  __device__ Candidate candidate(int32_t r, int64_t q, int64_t i) const {
    const float score = lse ? scores(q, i) - lse(q) : scores(q, i);
    if (!allows(best(q, i)) || score != score) return {};
    return {log_probs[r] + double(lse ? fminf(0.f, score) : score), r, best(q, i)};
  }
};

__device__ Candidate best_of_warp(Candidate mine) {
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const Candidate other{__shfl_xor_sync(0xffffffffu, mine.log_prob, step),
                          __shfl_xor_sync(0xffffffffu, mine.parent, step), __shfl_xor_sync(0xffffffffu, mine.id, step)};
    if (better(other, mine)) mine = other;
  }
  return mine;
}

/// All lanes call.
__device__ void write_row(const Next& n, int32_t r, int32_t parent, int32_t token) {
  const int64_t lane = threadIdx.x, last = n.length[r] - 1;
  for (int64_t t = lane; t < last; t += warp_size) n.table(r, t) = n.past(parent, t);
  if (lane != 0) return;
  n.table(r, last) = n.past(r, last);
  n.tokens[r] = n.ids[r] = token;
  n.parents[r] = parent;
}

// One warp per sentence. It takes the best continuation, then the best of the rest, and so on.
__global__ void next_rows_kernel(Next n) {
  const int64_t s = blockIdx.x;
  const int32_t begin = n.first[s], end = n.first[s + 1];
  const int64_t k = n.best.cols;
  int32_t r = begin;
  Candidate last;
  for (int32_t taken = 0; taken < n.compared[s] && r < end; ++taken) {
    Candidate mine;
    for (int64_t i = threadIdx.x; i < (end - begin) * k; i += warp_size) {
      const auto row = int32_t(i / k);
      const Candidate c = n.candidate(begin + row, n.step_first[s] + row, i % k);
      if ((taken == 0 || better(last, c)) && better(c, mine)) mine = c;
    }
    last = best_of_warp(mine);
    if (last.id == INT32_MAX) break;  // there are no more
    if (last.id != n.end) write_row(n, r++, last.parent, last.id);
  }
  for (; r < end; ++r) write_row(n, r, begin, n.end);
}

void next_rows(const Backend::NextRows& n) {
  const Next next{view<int32_t>(n.tokens).data,
                  view<int32_t>(n.parents).data,
                  view<int32_t>(n.ids).data,
                  view<int32_t>(n.table),
                  view<const int32_t>(n.best),
                  view<const float>(n.scores),
                  view<const float>(n.lse),
                  integers(n.first),
                  integers(n.step_first),
                  integers(n.compared),
                  view<const double>(n.log_probs).data,
                  view<const int32_t>(n.past),
                  integers(n.length),
                  n.suppressed ? integers(n.suppressed) : nullptr,
                  n.step_first.elements(),
                  n.suppressed.elements(),
                  n.end};
  launch(next_rows_kernel, dim3(unsigned(next.sentences)), dim3(warp_size), 0, next);
}

}  // namespace

void install_next_rows(Backend& b) { b.next_rows = next_rows; }

}  // namespace dragoman::cuda
