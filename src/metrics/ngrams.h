#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dragoman {

constexpr int longest_ngram = 6;
using NgramCounts = std::array<int64_t, longest_ngram>;  // [n - 1]: of n-grams

/// Number of n-grams of `hypothesis` found in a reference, for each n up to `order` (at most longest_ngram), each
/// counted at most as often as in the reference that has it most often (Papineni et al. 2002, section 2.1.1). A symbol
/// is a character or the number of a word; above order 4 it must be below 2^21 - 1, as characters are. Sorts all
/// suffixes once, which makes equal n-grams of every n neighbours: O(N log N), no hashing.
NgramCounts clipped_matches(std::u32string_view hypothesis, std::span<const std::u32string> references, int order);

/// Number of n-grams in `length` symbols, for each n up to `order`.
NgramCounts ngram_counts(size_t length, int order);

/// Maps equal words to equal numbers, which turns texts of words into texts of symbols. Keeps views of the words.
class WordNumbers {
 public:
  std::u32string operator()(std::span<const std::u32string_view> words);

 private:
  std::unordered_map<std::u32string_view, char32_t> numbers_;
};

}  // namespace dragoman
