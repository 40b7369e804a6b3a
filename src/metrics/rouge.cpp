#include "metrics/rouge.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "metrics/ngrams.h"
#include "metrics/porter.h"
#include "metrics/text.h"

namespace dragoman {
namespace {

bool is_of_a_word(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'0' && c <= U'9'); }

std::u32string stem_of(std::u32string_view word) {
  const std::string stem = porter_stem(std::string(word.begin(), word.end()));
  return {stem.begin(), stem.end()};
}

std::vector<std::u32string> words_of(std::string_view line, Stemmer stemmer) {
  const std::u32string text = metrics::lower(code_points(line));
  std::vector<std::u32string> words;
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), is_of_a_word);
    const auto end = std::find_if_not(begin, text.end(), is_of_a_word);
    if (begin != end) words.emplace_back(begin, end);
    begin = end;
  }
  if (stemmer == Stemmer::porter)
    for (auto& word : words)
      if (word.size() > 3) word = stem_of(word);
  return words;
}

// Computes the table of Cormen et al. row by row, keeping one row.
int64_t longest_common_subsequence(const std::u32string& a, const std::u32string& b) {
  std::vector<int64_t> longest(b.size() + 1);  // [j]: of a so far and the first j of b
  for (const char32_t word : a) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = longest[j];
      longest[j] = word == b[j - 1] ? diagonal + 1 : std::max(above, longest[j - 1]);
      diagonal = above;
    }
  }
  return longest.back();
}

double f_of(int64_t matches, int64_t of_hypothesis, int64_t of_reference) {
  if (matches == 0) return 0;
  const double precision = double(matches) / double(of_hypothesis), recall = double(matches) / double(of_reference);
  return 2 * precision * recall / (precision + recall);
}

double f_of(const std::u32string& hypothesis, const std::u32string& reference, Rouge kind) {
  if (kind == Rouge::rouge_l)
    return f_of(longest_common_subsequence(hypothesis, reference), int64_t(hypothesis.size()),
                int64_t(reference.size()));
  const int n = kind == Rouge::rouge_1 ? 1 : 2;
  const NgramCounts matches = clipped_matches(hypothesis, {&reference, 1}, n);
  return f_of(matches[n - 1], ngram_counts(hypothesis.size(), n)[n - 1], ngram_counts(reference.size(), n)[n - 1]);
}

}  // namespace

RougeStats& RougeStats::operator+=(const RougeStats& other) {
  f += other.f;
  lines += other.lines;
  return *this;
}

RougeStats rouge_stats(std::string_view hypothesis, std::span<const std::string_view> references, Rouge kind,
                       Stemmer stemmer) {
  invariant(!references.empty(), "rouge_stats: at least one reference");
  std::vector<std::vector<std::u32string>> texts{words_of(hypothesis, stemmer)};  // WordNumbers keeps views of them
  for (const auto reference : references) texts.push_back(words_of(reference, stemmer));
  WordNumbers numbers;
  std::vector<std::u32string> words;
  for (const auto& text : texts) words.push_back(numbers(std::vector<std::u32string_view>(text.begin(), text.end())));

  RougeStats stats{.lines = 1};
  for (size_t r = 1; r < words.size(); ++r) stats.f = std::max(stats.f, f_of(words[0], words[r], kind));
  return stats;
}

double rouge(const RougeStats& stats) { return stats.lines > 0 ? 100 * stats.f / double(stats.lines) : 0; }

std::vector<RougeStats> rouge_of_lines(Segments hypotheses, const std::vector<Segments>& references, Rouge kind,
                                       Stemmer stemmer) {
  require_parallel(hypotheses, references);
  return stats_of_lines<RougeStats>(hypotheses.size(), [&](size_t line) {
    return rouge_stats(hypotheses[line], references_of(references, line), kind, stemmer);
  });
}

}  // namespace dragoman
