#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// How BLEU splits lines into words. Names and details are sacreBLEU's (Post 2018, "A Call for Clarity in Reporting
/// BLEU Scores"): equal names give equal scores.
///   thirteen_a  mteval-v13a of the NIST, which WMT reports: splits ASCII punctuation, keeps 1,000.5 whole
///   intl        mteval-v14's international one: splits the punctuation and symbols of all of Unicode
///   character   every character is a word: for Chinese, Japanese and other scripts without spaces
///   none        words are separated by white space: for text that is tokenised already
enum class Tokenizer { thirteen_a, intl, character, none };

enum class CorpusMetric { bleu, chrf, chrf_plus_plus, ter, rouge, exact, evalb };

/// Which texts are scored, and how.
struct EvaluateOptions {
  std::vector<std::string> references;          // several: each line may match any of them
  std::vector<std::string> hypotheses = {"-"};  // one file per system; "-": stdin
  std::vector<CorpusMetric> metrics = {CorpusMetric::bleu, CorpusMetric::chrf};
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
  bool lowercase = false;                      // for BLEU, chrF and exact match
  bool ter_case_sensitive = false;
  bool rouge_stemmer = false;  // Porter's
  bool confidence = false;     // intervals from bootstrap resampling
  bool paired_bs = false;      // compare with the first system by bootstrap resampling, …
  bool paired_ar = false;      // … by approximate randomisation
  int samples = 0;             // 0: 1,000 resamples, 10,000 randomisations
  uint64_t seed = 12345;       // sacreBLEU's
};

}  // namespace dragoman
