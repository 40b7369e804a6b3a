#include "metrics/ngrams.h"

#include <gtest/gtest.h>

#include <map>

#include "base/philox.h"

namespace dragoman {
namespace {

// The definition, with a table of counts.
NgramCounts counted_matches(const std::u32string& hypothesis, std::span<const std::u32string> references, int order) {
  NgramCounts matches{};
  for (int n = 1; n <= order; ++n) {
    const auto table = [n](const std::u32string& text) {
      std::map<std::u32string, int64_t> counts;
      for (size_t i = 0; i + n <= text.size(); ++i) ++counts[text.substr(i, n)];
      return counts;
    };
    std::map<std::u32string, int64_t> most;
    for (const auto& reference : references)
      for (const auto& [ngram, count] : table(reference)) most[ngram] = std::max(most[ngram], count);
    for (const auto& [ngram, count] : table(hypothesis)) matches[n - 1] += std::min(count, most[ngram]);
  }
  return matches;
}

}  // namespace

TEST(ClippedMatches, AreThoseOfATableOfCounts) {
  PhiloxSequence draw(11, 0);
  const std::u32string alphabet{U'\0', U'a', U'b', 0x10FFFF};
  const auto text = [&] {
    std::u32string out;
    for (auto n = draw.below(30); n > 0; --n) out += alphabet[draw.below(alphabet.size())];
    return out;
  };
  for (int round = 0; round < 300; ++round) {
    const std::u32string hypothesis = text();
    std::vector<std::u32string> references(1 + draw.below(3));
    for (auto& reference : references) reference = text();
    const int order = 1 + int(draw.below(longest_ngram));
    EXPECT_EQ(clipped_matches(hypothesis, references, order), counted_matches(hypothesis, references, order));
  }
}

TEST(NgramCounts, AreLengthLessOrderPlusOneAndNeverNegative) {
  EXPECT_EQ(ngram_counts(3, 4), (NgramCounts{3, 2, 1, 0, 0, 0}));
  EXPECT_EQ(ngram_counts(0, 6), NgramCounts{});
}

TEST(WordNumbers, AreEqualWhereWordsAre) {
  WordNumbers numbers;
  const std::vector<std::u32string_view> first{U"a", U"b", U"a"}, second{U"c", U"b"};
  const std::u32string x = numbers(first), y = numbers(second);
  EXPECT_EQ(x[0], x[2]);
  EXPECT_EQ(x[1], y[1]);
  EXPECT_NE(x[0], x[1]);
  EXPECT_NE(y[0], x[0]);
}

}  // namespace dragoman
