#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

class Engine;

/// How BLEU splits lines into words. Names and details are sacreBLEU's (Post 2018, "A Call for Clarity in Reporting
/// BLEU Scores"): equal names give equal scores.
///   thirteen_a  mteval-v13a of the NIST, which WMT reports: splits ASCII punctuation, keeps 1,000.5 whole
///   intl        mteval-v14's international tokenizer: splits the punctuation and symbols of all of Unicode
///   zh          WMT's for translations into Chinese: every Chinese character is a word, the rest as with thirteen_a
///   character   every character is a word: for Chinese, Japanese and other scripts without spaces
///   none        words are separated by white space: for text that is tokenised already
///   spm         every piece of a SentencePiece model is a word: spBLEU (Goyal et al. 2022), which is
///               sacreBLEU's flores200 with the model of FLORES-200
enum class Tokenizer { thirteen_a, intl, zh, character, none, spm };

/// The metrics of a corpus. chrf: chrF2. chrf_plus_plus: chrF2++. rouge: ROUGE-1, ROUGE-2 and ROUGE-L. exact: the share
/// of lines that equal a reference. evalb: the F1 of constituents, for lines that are trees.
enum class CorpusMetric { bleu, chrf, chrf_plus_plus, ter, rouge, exact, evalb };

/// Which texts are scored, and how.
struct EvaluateOptions {
  std::vector<std::string> references = {};     // several: each line may match any of them
  std::vector<std::string> hypotheses = {"-"};  // one file per system; "-": stdin
  std::vector<CorpusMetric> metrics = {CorpusMetric::bleu, CorpusMetric::chrf};
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
  std::string tokenize_model = {};             // a SentencePiece model, for spm
  bool lowercase = false;                      // for BLEU, chrF and exact match
  bool ter_case_sensitive = false;
  bool rouge_stemmer = false;   // Porter's
  bool sentence_level = false;  // also scores each line by itself
  bool confidence = false;      // intervals from bootstrap resampling
  bool paired_bs = false;       // compare with the first system by bootstrap resampling, …
  bool paired_ar = false;       // … by approximate randomisation
  int samples = 0;              // 0: 1,000 resamples, 10,000 randomisations
  uint64_t seed = 12345;        // sacreBLEU's
};

/// Interval of 95 % of the resampled scores: mean ± half_width.
struct Interval {
  double mean = 0, half_width = 0;
};

struct BleuParts {
  std::array<double, 4> precisions{};  // of n-grams of 1 to 4 words, 0 … 100
  double brevity_penalty = 1;
  double length_ratio = 0;  // words of the hypotheses / words of the references
};

struct EvalbParts {
  double precision = 0, recall = 0, complete = 0;  // 0 … 100
  int64_t malformed = 0;                           // lines that are not trees: counted as trees without constituents
  int64_t other_words = 0;  // lines that are skipped, because their words are not the reference's
};

/// A metric of one system.
struct MetricScore {
  std::string name, title;  // "chrf" and "chrF2"
  double score = 0;         // 0 … 100; ter: 0 or more, lower is better
  /// With sentence_level: of each line. BLEU as by sacreBLEU's sentence_bleu; evalb: NaN for lines that are skipped.
  std::vector<double> lines;
  std::optional<Interval> interval;  // with confidence and paired_bs
  std::optional<double> p_value;     // of the difference from the first system
  std::optional<BleuParts> bleu;
  std::optional<EvalbParts> evalb;
};

struct SystemScores {
  std::string system;               // the file's name
  std::vector<MetricScore> scores;  // the same metrics for every system
};

/// The parameters of a metric in the format of sacreBLEU's signatures, to be quoted with the score.
struct MetricSignature {
  std::string name, title, text;
};

struct Evaluation {
  std::vector<SystemScores> systems;        // in the order of EvaluateOptions::hypotheses
  std::vector<MetricSignature> signatures;  // one per metric
};

/// Scores translations as `dragoman evaluate` does. The metrics come without repetition, in the order of CorpusMetric.
/// Error for files that cannot be read, for texts of different numbers of lines, and for options that contradict each
/// other or would have no effect. Thread-safe.
Evaluation evaluate(Engine& engine, const EvaluateOptions& options);

/// A text in memory.
struct EvaluatedText {
  std::string name = {};  // used in messages in place of a file name
  std::vector<std::string> lines = {};
};

/// The same for texts in memory; the files that the options name are ignored.
Evaluation evaluate(Engine& engine, EvaluateOptions options, std::vector<EvaluatedText> references,
                    std::vector<EvaluatedText> hypotheses);

}  // namespace dragoman
