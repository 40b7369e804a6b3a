#include "metrics/ngrams.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace dragoman {
namespace {

__extension__ using Key = unsigned __int128;

// The n-gram that starts at one position, its first symbol highest. Symbols are raised by one: 0 is past the end.
struct Suffix {
  Key key;
  int32_t text;
};

void append_suffixes(std::vector<Suffix>& out, std::u32string_view text, int32_t number, int order, int bits) {
  Key key = 0;
  for (size_t i = text.size(); i-- > 0;) {
    key = (key >> bits) | (Key{text[i]} + 1) << (bits * (order - 1));
    out.push_back({key, number});
  }
}

// Text 0 is the hypothesis. Keys shifted by `shift` are n-grams; those that end in 0 are too short.
int64_t matches_of_order(std::span<const Suffix> sorted, std::vector<int64_t>& counts, int shift, Key last_symbol) {
  int64_t matches = 0;
  for (auto run = sorted.begin(); run != sorted.end();) {
    const Key ngram = run->key >> shift;
    std::fill(counts.begin(), counts.end(), 0);
    for (; run != sorted.end() && run->key >> shift == ngram; ++run) ++counts[run->text];
    if ((ngram & last_symbol) != 0) matches += std::min(counts[0], *std::max_element(counts.begin() + 1, counts.end()));
  }
  return matches;
}

}  // namespace

NgramCounts clipped_matches(std::u32string_view hypothesis, std::span<const std::u32string> references, int order) {
  invariant(!references.empty() && order <= longest_ngram, "clipped_matches: a reference, and an order within bounds");
  const int bits = order <= 4 ? 32 : 21;  // of a symbol: the key has 128
  std::vector<Suffix> suffixes;
  append_suffixes(suffixes, hypothesis, 0, order, bits);
  for (size_t r = 0; r < references.size(); ++r) append_suffixes(suffixes, references[r], int32_t(r + 1), order, bits);
  std::sort(suffixes.begin(), suffixes.end(), [](const Suffix& a, const Suffix& b) { return a.key < b.key; });

  NgramCounts matches{};
  std::vector<int64_t> counts(references.size() + 1);
  const Key last_symbol = (Key{1} << bits) - 1;
  for (int n = 1; n <= order; ++n) matches[n - 1] = matches_of_order(suffixes, counts, bits * (order - n), last_symbol);
  return matches;
}

NgramCounts ngram_counts(size_t length, int order) {
  NgramCounts counts{};
  for (int n = 1; n <= order; ++n) counts[n - 1] = std::max<int64_t>(0, int64_t(length) - n + 1);
  return counts;
}

std::u32string WordNumbers::operator()(std::span<const std::u32string_view> words) {
  std::u32string numbers;
  numbers.reserve(words.size());
  for (const auto word : words) numbers += numbers_.try_emplace(word, char32_t(numbers_.size())).first->second;
  return numbers;
}

}  // namespace dragoman
