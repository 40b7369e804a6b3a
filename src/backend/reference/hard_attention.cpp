#include <algorithm>
#include <cmath>

#include "backend/attention.h"
#include "backend/random_choice.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Chooses one of the weights p (n) that sum to 1: the largest, or the one at `share` of their cumulative sum.
template <class T>
int64_t heaviest(const T* p, int64_t n) {
  return std::max_element(p, p + n) - p;
}
double share_of(const Dropout& random, int64_t row) {
  const auto positions = random.positions.view<int32_t>();
  return uniform(random.key(), random.op, positions(row, 0), positions(row, 1));
}
template <class T>
int64_t drawn(const T* p, int64_t n, double share) {
  double all = 0, so_far = 0;
  for (int64_t j = 0; j < n; ++j) all += p[j];
  for (int64_t j = 0; j < n; ++j) {
    so_far += p[j];
    if (so_far > share * all) return j;
  }
  return heaviest(p, n);  // weights are NaN
}

// For y = Σ_j p_j z_j with gradient dy, the gradient of each score is p_j (dy · z_j - dy · y). For z_j = [j = s] / p_s
// it is dy ([j = s] - p_j), the gradient of log p_s; for z_j = -log p_j it is dy p_j (-log p_j - H), that of H.
void choose(const AttentionKernels::Choice& c) {
  for_dtype(c.weights.dtype(), [&]<class T>() {
    constexpr T least = T(1e-30);  // avoids an infinite slope at weights of 0, where the slope does not matter
    const auto slopes = c.slopes.view<T>(), means = c.means.view<T>();
    for (int s = 0; s < c.spans.sentences(); ++s) {
      const auto [begin, end] = c.spans[s];
      const T* p = c.weights.as<T>() + begin;
      const int64_t n = end - begin;
      const int64_t chosen = c.random.active() ? drawn(p, n, share_of(c.random, s)) : heaviest(p, n);
      c.rows.as<int32_t>()[s] = int32_t(begin + chosen);
      T entropy = 0;
      for (int64_t j = 0; j < n; ++j) {
        slopes(begin + j, 0) = j == chosen ? 1 / std::max(p[j], least) : T(0);
        slopes(begin + j, 1) = -std::log(std::max(p[j], least));
        entropy += p[j] * slopes(begin + j, 1);
      }
      means(s, 0) = 1;
      means(s, 1) = entropy;
    }
  });
}

template <class T, class Stat>
void reinforce_signal(const AttentionKernels::ReinforceSignal& c) {
  const auto signal = c.signal.view<T>();
  for (int s = 0; s < c.spans.sentences(); ++s) {
    double beyond_baseline = 0;
    for (int64_t n = c.spans[s].end - 1; n >= c.spans[s].begin; --n) {
      const double weight = c.weights ? c.weights.as<float>()[n] : 1;
      beyond_baseline += c.loss.as<Stat>()[n] - weight * c.baseline;
      const int64_t row = c.positions.as<int32_t>()[n];
      signal(row, 0) = T(c.reward * beyond_baseline);
      signal(row, 1) = T(-c.entropy * weight);
    }
  }
}

}  // namespace

void install_hard_attention(AttentionKernels& b) {
  b.choose = choose;
  b.reinforce_signal = [](const AttentionKernels::ReinforceSignal& c) {
    for_dtype(c.signal.dtype(),
              [&]<class T>() { for_dtype(c.loss.dtype(), [&]<class Stat>() { reinforce_signal<T, Stat>(c); }); });
  };
}

}  // namespace dragoman::reference
