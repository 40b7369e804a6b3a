#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/ngrams.h"
#include "metrics/segments.h"
#include "metrics/tokenize.h"

namespace dragoman {

/// Corpus BLEU (Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation"):
///   BLEU = 100 · BP · (p1 p2 p3 p4)^(1/4),  BP = exp(min(0, 1 - r/c))
/// p_n: the fraction of the hypotheses' n-grams that are in a reference, counts clipped; c: words of the hypotheses; r:
/// words of the references, for each line the one whose length is closest to the hypothesis's, the shorter in a tie.
/// Scores equal those of sacreBLEU's defaults (Post 2018): the k-th p_n without a match counts as 1 / (2^k · n-grams)
/// (exp smoothing); without any match, or without n-grams of some order, BLEU is 0.

constexpr int bleu_order = 4;

/// Sufficient statistics of a line. BLEU of any set of lines is computed from their sum.
struct BleuStats {
  int64_t hypothesis_words = 0, reference_words = 0;
  std::array<int64_t, bleu_order> matches{}, totals{};  // [n - 1]: matched and all n-grams of the hypothesis

  BleuStats& operator+=(const BleuStats& other);
  bool operator==(const BleuStats&) const = default;
};

struct Bleu {
  double score = 0;                             // 0 … 100
  std::array<double, bleu_order> precisions{};  // 0 … 100
  double brevity_penalty = 1;
  BleuStats stats;

  double ratio() const;  // of the hypotheses' length to the references', 0 if these are empty
};

BleuStats bleu_stats(std::string_view hypothesis, std::span<const std::string_view> references,
                     const LineTokenizer& tokenizer, Case letters = Case::mixed);
Bleu bleu(const BleuStats& stats);

/// The BLEU of one line, 0 … 100, as by sacreBLEU's sentence_bleu: of n-grams no longer than the line.
double sentence_bleu(const BleuStats& line);

/// The sentence BLEU of each of several translations of one line with each as the reference. Their n-grams are counted
/// once.
class SentenceBleuOfPairs {
 public:
  SentenceBleuOfPairs(Segments texts, const LineTokenizer& tokenizer, Case letters = Case::mixed);
  /// For each text as the reference: sentence_bleu(bleu_stats(text number `hypothesis`, {it}, …)).
  std::vector<double> scores(size_t hypothesis) const;

 private:
  std::vector<std::u32string> words_;  // of each text, as numbers
  NgramIndex index_;
};

/// One per line. Throws Error if the sides differ in length. About 8 µs for a line of 18 words on one core.
std::vector<BleuStats> bleu_of_lines(Segments hypotheses, const std::vector<Segments>& references,
                                     const LineTokenizer& tokenizer, Case letters = Case::mixed);

/// The BLEU of a corpus, from the sum over its lines.
Bleu bleu(Segments hypotheses, const std::vector<Segments>& references,
          const LineTokenizer& tokenizer = Tokenizer::thirteen_a, Case letters = Case::mixed);

}  // namespace dragoman
