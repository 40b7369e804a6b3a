#include "metrics/ngrams.h"

#include <algorithm>
#include <utility>

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

// Of all texts, so that equal n-grams of every n are neighbours.
std::vector<Suffix> sorted_suffixes(std::u32string_view first, std::span<const std::u32string> others, int order,
                                    int bits) {
  std::vector<Suffix> suffixes;
  append_suffixes(suffixes, first, 0, order, bits);
  for (size_t t = 0; t < others.size(); ++t) append_suffixes(suffixes, others[t], int32_t(t + 1), order, bits);
  std::sort(suffixes.begin(), suffixes.end(), [](const Suffix& a, const Suffix& b) { return a.key < b.key; });
  return suffixes;
}

int bits_of_symbol(int order) { return order <= 4 ? 32 : 21; }  // the key has 128

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
  const int bits = bits_of_symbol(order);
  const std::vector<Suffix> suffixes = sorted_suffixes(hypothesis, references, order, bits);

  NgramCounts matches{};
  std::vector<int64_t> counts(references.size() + 1);
  const Key last_symbol = (Key{1} << bits) - 1;
  for (int n = 1; n <= order; ++n) matches[n - 1] = matches_of_order(suffixes, counts, bits * (order - n), last_symbol);
  return matches;
}

NgramIndex::NgramIndex(std::span<const std::u32string> texts, int order) : of_text_(texts.size()) {
  invariant(!texts.empty() && order <= longest_ngram, "NgramIndex: a text, and an order within bounds");
  const int bits = bits_of_symbol(order);
  const Key last_symbol = (Key{1} << bits) - 1;
  const std::vector<Suffix> sorted = sorted_suffixes(texts[0], texts.subspan(1), order, bits);
  std::vector<int32_t> counts(texts.size()), found;  // in texts; texts that have the n-gram
  for (int n = 1; n <= order; ++n) {
    const int shift = bits * (order - n);
    for (auto run = sorted.begin(); run != sorted.end();) {
      const Key ngram = run->key >> shift;
      found.clear();
      for (; run != sorted.end() && run->key >> shift == ngram; ++run)
        if (counts[size_t(run->text)]++ == 0) found.push_back(run->text);
      const bool complete = (ngram & last_symbol) != 0;
      if (complete) begins_.push_back(postings_.size());
      for (const int32_t text : found) {
        const int32_t count = std::exchange(counts[size_t(text)], 0);
        if (!complete) continue;
        postings_.push_back({text, count});
        of_text_[size_t(text)].push_back({begins_.size() - 1, n, count});
      }
    }
  }
  begins_.push_back(postings_.size());
}

std::vector<NgramCounts> NgramIndex::matches(size_t hypothesis) const {
  std::vector<NgramCounts> matches(of_text_.size());
  for (const auto& [ngram, order, count] : of_text_[hypothesis])
    for (size_t p = begins_[ngram]; p < begins_[ngram + 1]; ++p)
      matches[size_t(postings_[p].text)][size_t(order - 1)] += std::min(count, postings_[p].count);
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
