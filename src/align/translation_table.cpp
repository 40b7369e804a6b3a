#include "align/translation_table.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/threads.h"

namespace dragoman {
namespace {

constexpr double unit = 0x1p-32;  // of counts

/// Collects distinct numbers. Duplicates are removed from time to time, so memory is limited to about twice that of the
/// distinct numbers.
class Gathered {
 public:
  void add(std::span<const int32_t> numbers) {
    numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    if (numbers_.size() > limit_) sort_out();
  }
  std::vector<int32_t> take() {
    sort_out();
    return std::move(numbers_);
  }

 private:
  void sort_out() {
    std::ranges::sort(numbers_);
    numbers_.erase(std::ranges::unique(numbers_).begin(), numbers_.end());
    limit_ = std::max<size_t>(64, 2 * numbers_.size());
  }

  std::vector<int32_t> numbers_;
  size_t limit_ = 64;
};

}  // namespace

TranslationTable::TranslationTable(const ParallelIds& pairs, int32_t source_vocabulary) {
  std::vector<Gathered> met(size_t(source_vocabulary) + 1);
  for (int64_t i = 0; i < pairs.size(); ++i) {
    for (const int32_t source : pairs.source(i)) met[source].add(pairs.target(i));
    met.back().add(pairs.target(i));
  }
  begins_ = {0};
  for (Gathered& m : met) {
    const std::vector<int32_t> targets = m.take();
    targets_.insert(targets_.end(), targets.begin(), targets.end());
    begins_.push_back(int64_t(targets_.size()));
  }
  probabilities_.assign(targets_.size(), 1.0 / std::max<double>(1, double(of(nothing()).targets.size())));
  counts_.assign(targets_.size(), 0);
}

TranslationTable::Entries TranslationTable::of(int32_t source) const {
  const auto begin = size_t(begins_[source]), count = size_t(begins_[source + 1]) - begin;
  return {std::span(targets_).subspan(begin, count), std::span(probabilities_).subspan(begin, count)};
}

int64_t TranslationTable::find(int32_t source, int32_t target) const {
  const auto begin = targets_.begin() + begins_[source], end = targets_.begin() + begins_[source + 1];
  const auto found = std::lower_bound(begin, end, target);
  return found != end && *found == target ? found - targets_.begin() : none;
}

void TranslationTable::count(int64_t entry, double share) {
  std::atomic_ref(counts_[entry]).fetch_add(uint64_t(share / unit + 0.5), std::memory_order_relaxed);
}

void TranslationTable::estimate(double alpha) {
  parallel_items(int64_t(begins_.size()) - 1, [&](int64_t source, int) {
    const int64_t begin = begins_[source], end = begins_[source + 1];
    double total = 0;
    for (int64_t i = begin; i < end; ++i) total += double(counts_[i]) * unit + alpha;
    if (total == 0) return;
    const double whole = alpha > 0 ? digamma(total) : 0;
    for (int64_t i = begin; i < end; ++i) {
      const double count = double(counts_[i]) * unit;
      probabilities_[i] = alpha > 0 ? std::exp(digamma(count + alpha) - whole) : count / total;
      counts_[i] = 0;
    }
  });
}

// ψ(x) = ψ(x + 1) − 1/x up to where the asymptotic series holds to 1e-12 (Abramowitz & Stegun, 6.3.5 and 6.3.18).
double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132)))));
}

}  // namespace dragoman
