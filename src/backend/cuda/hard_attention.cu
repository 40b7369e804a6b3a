#include "backend/backend.h"
#include "backend/cuda/device.cuh"
#include "backend/cuda/families.h"
#include "backend/random_choice.h"

namespace dragoman::cuda {
namespace {

__device__ int64_t heaviest(const float* p, int64_t n) {
  int64_t best = 0;
  for (int64_t j = 1; j < n; ++j)
    if (p[j] > p[best]) best = j;
  return best;
}
__device__ int64_t drawn(const float* p, int64_t n, double share) {
  double all = 0, so_far = 0;
  for (int64_t j = 0; j < n; ++j) all += p[j];
  for (int64_t j = 0; j < n; ++j) {
    so_far += p[j];
    if (so_far > share * all) return j;
  }
  return heaviest(p, n);
}

// Like the reference, with one thread per sentence.
void choose(const Backend::Choice& c) {
  const auto slopes = view<float>(c.slopes), means = view<float>(c.means);
  const float* weights = view<const float>(c.weights).data;
  int32_t* rows = view<int32_t>(c.rows).data;
  const int32_t* offsets = integers(c.spans.offsets());
  const int32_t* positions = c.random.active() ? integers(c.random.positions) : nullptr;
  const PhiloxKey key = c.random.key();
  const uint32_t op = c.random.op;
  each_element(c.spans.sentences(), 1, [=] __device__(int64_t s, int64_t) {
    constexpr float least = 1e-30f;
    const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
    const float* p = weights + begin;
    const int64_t chosen =
        positions ? drawn(p, n, uniform(key, op, positions[2 * s], positions[2 * s + 1])) : heaviest(p, n);
    rows[s] = int32_t(begin + chosen);
    float entropy = 0;
    for (int64_t j = 0; j < n; ++j) {
      slopes(begin + j, 0) = j == chosen ? 1 / fmaxf(p[j], least) : 0.f;
      slopes(begin + j, 1) = -logf(fmaxf(p[j], least));
      entropy += p[j] * slopes(begin + j, 1);
    }
    means(s, 0) = 1;
    means(s, 1) = entropy;
  });
}

void reinforce_signal(const Backend::ReinforceSignal& c) {
  const auto signal = view<float>(c.signal);
  const float *loss = view<const float>(c.loss).data, *weights = view<const float>(c.weights).data;
  const int32_t *offsets = integers(c.spans.offsets()), *positions = integers(c.positions);
  const double usual = c.baseline, reward = c.reward, entropy = c.entropy;
  each_element(c.spans.sentences(), 1, [=] __device__(int64_t s, int64_t) {
    double beyond_baseline = 0;
    for (int64_t n = offsets[s + 1] - 1; n >= offsets[s]; --n) {
      const double weight = weights ? weights[n] : 1;
      beyond_baseline += loss[n] - weight * usual;
      signal(positions[n], 0) = float(reward * beyond_baseline);
      signal(positions[n], 1) = float(-entropy * weight);
    }
  });
}

}  // namespace

void install_hard_attention(Backend& b) {
  b.choose = choose;
  b.reinforce_signal = reinforce_signal;
}

}  // namespace dragoman::cuda
