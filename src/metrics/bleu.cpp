#include "metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/utf8.h"
#include "metrics/text.h"

namespace dragoman {
namespace {

std::u32string prepare(std::string_view line, const LineTokenizer& tokenizer, Case letters) {
  std::u32string text = code_points(line);
  if (letters == Case::lower) text = metrics::lower(text);
  return tokenizer(metrics::strip_right(text));
}

// The words of texts as numbers, equal ones for equal words.
std::vector<std::u32string> numbered_words(const std::vector<std::u32string>& texts) {
  WordNumbers numbers;
  std::vector<std::u32string> words;
  for (const auto& text : texts) words.push_back(numbers(metrics::split(text)));
  return words;
}

std::vector<std::u32string> numbered_words(Segments lines, const LineTokenizer& tokenizer, Case letters) {
  std::vector<std::u32string> texts;
  for (const std::string& line : lines) texts.push_back(prepare(line, tokenizer, letters));
  return numbered_words(texts);
}

// With those of the hypothesis's n-grams.
void set_counts(BleuStats& stats, const NgramCounts& matches) {
  const NgramCounts totals = ngram_counts(size_t(stats.hypothesis_words), bleu_order);
  std::copy_n(matches.begin(), bleu_order, stats.matches.begin());
  std::copy_n(totals.begin(), bleu_order, stats.totals.begin());
}

// Keeps the length closest to the hypothesis's; of two equally close, the shorter.
bool closer(int64_t length, int64_t closest, int64_t hypothesis) {
  const int64_t difference = std::abs(length - hypothesis), least = std::abs(closest - hypothesis);
  return difference < least || (difference == least && length < closest);
}

// BLEU with n-grams of up to `orders` words.
Bleu bleu_of_orders(const BleuStats& stats, int orders) {
  Bleu result{.stats = stats};
  const auto hypothesis = double(stats.hypothesis_words), reference = double(stats.reference_words);
  if (hypothesis < reference) result.brevity_penalty = hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
  if (std::all_of(stats.matches.begin(), stats.matches.end(), [](int64_t m) { return m == 0; })) return result;

  double smoothing = 1, logarithms = 0;
  for (int n = 0; n < orders; ++n) {
    if (stats.totals[n] == 0) return result;  // a precision of 0 / 0 makes the mean 0
    double found = double(stats.matches[n]);
    if (stats.matches[n] == 0) found = 1 / (smoothing *= 2);
    result.precisions[n] = 100 * found / double(stats.totals[n]);
    logarithms += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(logarithms / orders);
  return result;
}

}  // namespace

BleuStats& BleuStats::operator+=(const BleuStats& other) {
  hypothesis_words += other.hypothesis_words;
  reference_words += other.reference_words;
  for (int n = 0; n < bleu_order; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  return *this;
}

double Bleu::ratio() const {
  return stats.reference_words > 0 ? double(stats.hypothesis_words) / double(stats.reference_words) : 0;
}

BleuStats bleu_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                     const LineTokenizer& tokenizer, Case letters) {
  invariant(!references.empty(), "bleu_stats: at least one reference");
  std::vector<std::u32string> texts{prepare(hypothesis, tokenizer, letters)};
  for (const auto reference : references) texts.push_back(prepare(reference, tokenizer, letters));
  const std::vector<std::u32string> words = numbered_words(texts);

  BleuStats stats;
  stats.hypothesis_words = int64_t(words[0].size());
  stats.reference_words = int64_t(words[1].size());
  for (size_t r = 2; r < words.size(); ++r)
    if (const auto length = int64_t(words[r].size()); closer(length, stats.reference_words, stats.hypothesis_words))
      stats.reference_words = length;
  set_counts(stats, clipped_matches(words[0], std::span(words).subspan(1), bleu_order));
  return stats;
}

Bleu bleu(const BleuStats& stats) { return bleu_of_orders(stats, bleu_order); }

double sentence_bleu(const BleuStats& line) {
  const auto longest = std::ranges::find(line.totals, 0);
  return bleu_of_orders(line, int(longest - line.totals.begin())).score;
}

SentenceBleuOfPairs::SentenceBleuOfPairs(Segments texts, const LineTokenizer& tokenizer, Case letters)
    : words_(numbered_words(texts, tokenizer, letters)), index_(words_, bleu_order) {}

std::vector<double> SentenceBleuOfPairs::scores(size_t hypothesis) const {
  const std::vector<NgramCounts> matches = index_.matches(hypothesis);
  std::vector<double> scores;
  for (size_t reference = 0; reference < words_.size(); ++reference) {
    BleuStats stats{.hypothesis_words = int64_t(words_[hypothesis].size()),
                    .reference_words = int64_t(words_[reference].size())};
    set_counts(stats, matches[reference]);
    scores.push_back(sentence_bleu(stats));
  }
  return scores;
}

std::vector<BleuStats> bleu_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                     const LineTokenizer& tokenizer, Case letters) {
  require_parallel(hypotheses, references);
  return stats_of_lines<BleuStats>(hypotheses.size(), [&](size_t line) {
    return bleu_stats(hypotheses[line], references_of(references, line), tokenizer, letters);
  });
}

Bleu bleu(Segments hypotheses, const std::vector<Segments>& references, const LineTokenizer& tokenizer, Case letters) {
  return bleu(sum_of(bleu_of_lines(hypotheses, references, tokenizer, letters)));
}

}  // namespace dragoman
