#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman {

constexpr int longest_ngram = 6;
using NgramCounts = std::array<int64_t, longest_ngram>;  // [n - 1]: of n-grams

/// Number of n-grams of `hypothesis` found in a reference, for each n up to `order` (at most longest_ngram), each
/// counted at most as often as in the reference that has it most often (Papineni et al. 2002, section 2.1.1). A symbol
/// is a character or the number of a word; above order 4 it must be below 2^21 - 1, as characters are. Sorts all
/// suffixes once, which makes equal n-grams of every n neighbours: O(N log N), no hashing.
NgramCounts clipped_matches(std::u32string_view hypothesis, std::span<const std::u32string> references, int order);

/// The n-grams of several texts, counted once, for the matches of each text with each. Symbols and order as above.
class NgramIndex {
 public:
  NgramIndex(std::span<const std::u32string> texts, int order);

  /// For each text: clipped_matches(text number `hypothesis`, {it}, order). Takes a step for each pair of a distinct
  /// n-gram of the hypothesis and a text that has it.
  std::vector<NgramCounts> matches(size_t hypothesis) const;

 private:
  struct Posting {
    int32_t text, count;
  };
  struct Occurrence {
    size_t ngram;
    int order;
    int32_t count;  // in the text
  };

  std::vector<Posting> postings_;                 // texts that have an n-gram, n-gram by n-gram
  std::vector<size_t> begins_;                    // of each n-gram in postings_, and the end
  std::vector<std::vector<Occurrence>> of_text_;  // its distinct n-grams
};

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
