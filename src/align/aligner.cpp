#include "align/aligner.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/threads.h"

namespace dragoman {

/// A sum of integers: exact, so threads may add in any order.
class ExactSum {
 public:
  void add(double x) { units_.fetch_add(std::llround(x * per_one), std::memory_order_relaxed); }
  double value() const { return double(units_) / per_one; }

 private:
  static constexpr double per_one = 0x1p24;
  std::atomic<int64_t> units_ = 0;
};

namespace {

// The closeness of target position i of m and source position j of n (from 0) to the diagonal: 0 on it, -1 farthest
// from it.
double feature(int i, int m, int j, int n) { return -std::abs((i + 1.0) / m - (j + 1.0) / n); }

}  // namespace

struct Aligner::Sums {
  ExactSum log_likelihood, feature, linked;
  std::atomic<int64_t> pieces = 0;
};

Aligner::Aligner(const ParallelIds& pairs, int32_t source_vocabulary, const AlignerOptions& options)
    : pairs_(pairs), options_(options), table_(pairs, source_vocabulary), tension_(options.tension) {
  for (int64_t i = 0; i < pairs.size(); ++i) ++sizes_[{int(pairs.source(i).size()), int(pairs.target(i).size())}];
}

// origins (n + 1): the source pieces, then the null word. Returns the sum of their weights.
double Aligner::weigh(std::span<Origin> origins, std::span<const int32_t> source, std::span<const int32_t> target,
                      int i) const {
  const int n = int(source.size()), m = int(target.size());
  const auto origin = [&](int32_t from, double prior) {
    const int64_t entry = table_.find(from, target[i]);
    return Origin{entry, entry == TranslationTable::none ? 0 : prior * table_.probability(entry)};
  };
  double normaliser = 0, sum = 0;
  for (int j = 0; j < n; ++j) normaliser += origins[j].weight = std::exp(tension_ * feature(i, m, j, n));
  for (int j = 0; j < n; ++j) {
    origins[j] = origin(source[j], (1 - options_.nothing) / normaliser * origins[j].weight);
    sum += origins[j].weight;
  }
  origins[n] = origin(table_.nothing(), options_.nothing);
  return sum + origins[n].weight;
}

void Aligner::expect(int64_t pair, std::vector<Origin>& origins, Sums& sums) {
  const auto source = pairs_.source(pair), target = pairs_.target(pair);
  const int n = int(source.size()), m = int(target.size());
  if (n == 0 || m == 0) return;
  origins.resize(size_t(n) + 1);
  double log_likelihood = 0, features = 0, linked = 0;
  for (int i = 0; i < m; ++i) {
    const double sum = weigh(origins, source, target, i);
    if (sum <= 0) continue;  // underflow
    for (const Origin& o : origins) table_.count(o.entry, o.weight / sum);
    for (int j = 0; j < n; ++j) {
      features += origins[j].weight / sum * feature(i, m, j, n);
      linked += origins[j].weight / sum;
    }
    log_likelihood += std::log(sum);
  }
  sums.log_likelihood.add(log_likelihood);
  sums.feature.add(features);
  sums.linked.add(linked);
  sums.pieces += m;
}

double Aligner::iterate() {
  Sums sums;
  const int threads = thread_count();
  std::vector<std::vector<Origin>> origins(threads);
  parallel_items(pairs_.size(), [&](int64_t pair, int part) { expect(pair, origins[part], sums); });
  // In the first iteration, all translations are equally probable, so the distances carry no information yet.
  if (iterations_++ > 0 && !options_.fixed_tension && sums.linked.value() > 0)
    learn_tension(sums.feature.value() / sums.linked.value());
  table_.estimate(options_.alpha);
  return std::exp(-sums.log_likelihood.value() / double(std::max<int64_t>(1, sums.pieces)));
}

// Gradient ascent on λ: the gradient is the difference of the observed and the expected feature. Step size, number of
// steps and bounds are those of the authors' program.
void Aligner::learn_tension(double observed) {
  for (int step = 0; step < 8; ++step)
    tension_ = std::clamp(tension_ + 20 * (observed - expected_feature()), 0.1, 14.0);
}

double Aligner::expected_feature() const {
  std::vector<std::pair<std::pair<int, int>, int64_t>> sizes(sizes_.begin(), sizes_.end());
  std::vector<double> features(sizes.size());
  parallel_items(int64_t(sizes.size()), [&](int64_t s, int) {
    const auto [n, m] = sizes[s].first;
    for (int i = 0; i < m && n > 0; ++i) {
      double normaliser = 0, sum = 0;
      for (int j = 0; j < n; ++j) {
        const double h = feature(i, m, j, n), weight = std::exp(tension_ * h);
        normaliser += weight;
        sum += weight * h;
      }
      features[s] += sum / normaliser;
    }
  });
  double sum = 0, pieces = 0;
  for (size_t s = 0; s < sizes.size(); ++s) {
    const auto [n, m] = sizes[s].first;
    if (n == 0) continue;
    sum += double(sizes[s].second) * features[s];
    pieces += double(sizes[s].second) * m;
  }
  return sum / std::max(1.0, pieces);
}

std::vector<TokenLink> Aligner::align(std::span<const int32_t> source, std::span<const int32_t> target) const {
  std::vector<TokenLink> links;
  std::vector<Origin> origins(source.size() + 1);
  for (int i = 0; i < int(target.size()); ++i) {
    weigh(origins, source, target, i);
    const auto best = std::ranges::max_element(origins, {}, &Origin::weight) - origins.begin();
    if (best < int64_t(source.size()) && origins[best].weight > origins.back().weight) links.push_back({best, i});
  }
  return links;
}

}  // namespace dragoman
