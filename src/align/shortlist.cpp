#include "align/shortlist.h"

#include <algorithm>
#include <numeric>

namespace dragoman {
namespace {

// Indices of the `count` largest values above 0, the largest first; among equal values the lower index first.
template <class T>
std::vector<int32_t> largest(std::span<const T> values, int count) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int32_t i) { return !(values[i] > 0); });
  const size_t wanted = std::min(order.size(), size_t(count));
  std::ranges::partial_sort(order, order.begin() + ptrdiff_t(wanted), [&](int32_t a, int32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  order.resize(wanted);
  return order;
}

std::vector<int32_t> frequent(const ParallelIds& pairs, int32_t vocabulary, int count) {
  std::vector<int64_t> counts(size_t(vocabulary), 0);
  for (int64_t i = 0; i < pairs.size(); ++i)
    for (const int32_t id : pairs.target(i)) ++counts[id];
  return largest(std::span<const int64_t>(counts), count);
}

}  // namespace

Shortlist make_shortlist(const TranslationTable& table, const ParallelIds& pairs, const Vocabulary& source,
                         const Vocabulary& target, const ShortlistOptions& options) {
  Shortlist s{
      .first = frequent(pairs, target.size(), options.first), .begins = {0}, .target_vocabulary = target.size()};
  s.first.push_back(target.eos());
  std::ranges::sort(s.first);
  for (int32_t piece = 0; piece < source.size(); ++piece) {
    const auto [targets, probabilities] = table.of(piece);
    for (const int32_t i : largest(probabilities, options.best)) s.best.push_back(targets[i]);
    const auto copied = target.find(source.piece(piece));
    if (copied && !target.is_special(*copied)) s.best.push_back(*copied);
    s.begins.push_back(int32_t(s.best.size()));
  }
  return s;
}

}  // namespace dragoman
