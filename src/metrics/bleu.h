#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/segments.h"
#include "metrics/tokenize.h"

namespace dragoman {

/// Corpus BLEU (Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation"):
///   BLEU = 100 · BP · (p1 p2 p3 p4)^(1/4),  BP = exp(min(0, 1 - r/c))
/// p_n: the share of the hypotheses' n-grams that are in a reference, counts clipped; c: words of the hypotheses; r:
/// words of the references, for each line the one whose length is closest to the hypothesis's, the shorter of two.
/// All as sacreBLEU has it by default (Post 2018), so figures agree: the k-th p_n without a match counts as
/// 1 / (2^k · n-grams) (exp smoothing); no match at all, or no n-grams of some order, is a BLEU of 0.

constexpr int bleu_order = 4;

/// What BLEU needs to know of a line. Sums of these make the BLEU of any set of lines.
struct BleuStats {
  int64_t hypothesis_words = 0, reference_words = 0;
  std::array<int64_t, bleu_order> matches{}, totals{};  // [n - 1]: n-grams of the hypothesis, found and all

  BleuStats& operator+=(const BleuStats& other);
};

struct Bleu {
  double score = 0;                             // 0 … 100
  std::array<double, bleu_order> precisions{};  // 0 … 100
  double brevity_penalty = 1;
  BleuStats stats;

  double ratio() const;  // of the hypotheses' length to the references', 0 where these are empty
};

BleuStats bleu_stats(std::string_view hypothesis, std::span<const std::string_view> references, Tokenizer tokenizer,
                     Case letters = Case::mixed);
Bleu bleu(const BleuStats& stats);

/// The BLEU of one line, 0 … 100, as sacreBLEU's sentence_bleu has it: of n-grams no longer than the line.
double sentence_bleu(const BleuStats& line);

/// One for each line. Throws Error when the sides differ in length. About 8 µs a line of 18 words on one core.
std::vector<BleuStats> bleu_of_lines(Segments hypotheses, const std::vector<Segments>& references, Tokenizer tokenizer,
                                     Case letters = Case::mixed);

/// The BLEU of a corpus: of the sum of its lines.
Bleu bleu(Segments hypotheses, const std::vector<Segments>& references, Tokenizer tokenizer = Tokenizer::thirteen_a,
          Case letters = Case::mixed);

}  // namespace dragoman
