#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "align/aligner.h"
#include "align/shortlist.h"
#include "data/options.h"
#include "data/survey.h"
#include "decode/options.h"
#include "engine/average.h"
#include "explain/explanation.h"
#include "metrics/tokenize.h"
#include "model/presets.h"
#include "optim/options.h"
#include "train/options.h"
#include "vocab/options.h"

namespace dragoman {

class Engine;

/// One struct per subcommand, filled and checked by its flag table (cli/*_flags.cpp). The file "-" is stdin or stdout.
/// The command functions return the exit code and throw Error for mistakes that the user can correct.

/// The recurrent unit of a decoder. automatic: the default of the model type.
enum class DecoderCell { automatic, gru, lstm, ssru };

/// The members that stand for Marian's spellings are converted to the inherited ones by the table's check.
struct TrainOptions : ModelConfig, DataOptions, OptimizerOptions, TrainingOptions {
  Task task = Task::none;
  std::string preprocess;           // "n": pre-norm, together with …
  std::string postprocess = "dan";  // … "da"
  bool learned_positions = false;
  bool depth_scaling = false;
  bool no_average_gates = false;
  DecoderCell dec_cell = DecoderCell::automatic;
  bool overwrite = false;
  bool profile = false;
  bool dry_run = false;                                      // check everything, report, write nothing
  std::vector<double> optimizer_params = {0.9, 0.98, 1e-9};  // beta1, beta2, epsilon
};

struct DataCommandOptions : SurveyOptions {
  std::vector<std::string> train_sets;  // as DataOptions::train_sets
  bool tsv = false;
  std::vector<std::string> vocabs;  // {source, target}; empty: counts words only
  bool json = false;
};

struct PlotOptions {
  std::vector<std::string> logs;  // of train --log-json
};

/// Type of the factors of products when decoding; automatic: by the type the file stores.
enum class Precision { automatic, float32, bfloat16, float16, int8 };

struct TranslateCommandOptions : SearchOptions, TranslateOptions {
  Precision precision = Precision::automatic;
  std::string shortlist;  // file written by `dragoman align`; empty: all pieces are allowed
  bool profile = false;
  std::vector<std::string> length_penalty_words;  // {"gnmt", "0.6"}, becomes length_penalty
  std::vector<std::string> output_sampling;       // {"topk", "10"}, becomes sampling and its parameter
};

/// What `score --summary` prints instead of one line per pair.
enum class Summary { none, cross_entropy, ce_mean, ce_mean_words, perplexity };

struct ScoreOptions {
  std::string model;
  std::vector<std::string> train_sets;  // {source, target}, as Marian calls them; with n_best {source, list}
  std::string output = "-";
  bool n_best = false;                   // the target is an n-best list, to which a feature is added …
  std::string n_best_feature = "Score";  // … of this name
  bool word_scores = false;              // also log-probabilities of the tokens
  AlignmentStyle alignment;              // source positions attended to by each target position
  Summary summary = Summary::none;
  bool normalize = false;                      // divide each log-probability by the target's length
  bool no_spm_encode = false;                  // the text is already split into pieces
  int64_t mini_batch_words = 4096;             // target tokens
  int64_t maxi_batch_lines = 10000;            // lines read ahead and sorted by length
  int max_length = 10'000;                     // pieces per side; longer ones are an Error
  std::vector<std::string> devices = {"cpu"};  // one: "cpu", "cuda:0"
  bool fast_math = false;                      // on a GPU: products of float32 in TF32
  int cpu_threads = 0;                         // 0: one per core
  bool profile = false;
  bool quiet = false;
};

/// Output format; automatic: by the extension of --output, else text.
enum class ExplanationFormat { automatic, html, json, text };

struct ExplainOptions : AttentionChoice {
  std::string model;                    // empty, with `positions`: the sinusoids of the paper
  bool positions = false;               // show position embeddings instead of attention
  std::vector<std::string> train_sets;  // {source, target}; empty: …
  std::string input = "-";              // … these lines are translated
  std::string output = "-";
  ExplanationFormat format = ExplanationFormat::automatic;
  int max_length = 100;                       // pieces per side; longer pairs are skipped
  int64_t max_lines = 100;                    // 0: all
  int beam_size = SearchOptions{}.beam_size;  // as in translate
  bool no_spm_encode = false;                 // the text is already split into pieces
  int cpu_threads = 0;                        // 0: one per core
  bool quiet = false;
};

struct AlignOptions : AlignerOptions, ShortlistOptions {
  std::vector<std::string> train_sets;  // {source, target} of each corpus
  bool tsv = false;                     // each file holds both sides
  std::vector<std::string> vocabs;      // {source, target}; empty: those of …
  std::string model;                    // … this file
  std::string output;                   // for links; empty: they are not written
  std::string shortlist;                // file to write; empty: none
  bool no_spm_encode = false;           // the text is already split into pieces
  int iterations = 5;
  bool reverse = false;  // from the target to the source
  int max_length = 200;  // pieces
  int cpu_threads = 0;   // 0: one per core
  bool quiet = false;
};

struct QuantizeOptions {
  std::string model, output;
  std::vector<std::string> valid_sets;         // {source, target}; empty: quality is not measured
  double gate = 100;                           // largest drop of BLEU allowed
  int beam_size = SearchOptions{}.beam_size;   // as in translate
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
  int cpu_threads = 0;                         // 0: one per core
  bool quiet = false;
};

enum class CorpusMetric { bleu, chrf, chrf_plus_plus, ter, rouge, exact, evalb };

struct EvaluateOptions {
  std::vector<std::string> references;          // several: each line may match any of them
  std::vector<std::string> hypotheses = {"-"};  // one file per system; "-": stdin
  std::vector<CorpusMetric> metrics = {CorpusMetric::bleu, CorpusMetric::chrf};
  Tokenizer tokenize = Tokenizer::thirteen_a;  // for BLEU
  bool lowercase = false;                      // for BLEU, chrF and exact match
  bool ter_case_sensitive = false;
  bool rouge_stemmer = false;  // Porter's
  bool oracle = false;         // print the translations of an n-best list that are nearest to the references
  bool confidence = false;     // intervals from bootstrap resampling
  bool paired_bs = false;      // compare with the first system by bootstrap resampling, …
  bool paired_ar = false;      // … by approximate randomisation
  int samples = 0;             // 0: 1,000 resamples, 10,000 randomisations
  uint64_t seed = 12345;       // sacreBLEU's
  bool json = false;
};

struct InspectOptions {
  std::string model;
  bool devices = false;  // list the hardware instead
  bool options = false;  // print only the options of train that define such a model
  bool json = false;
};

enum class Shell { bash, zsh, fish };

struct CompletionOptions {
  Shell shell = Shell::bash;
};

enum class VocabAction { train, encode, decode, inspect };

struct VocabOptions {
  VocabAction action = VocabAction::inspect;
  std::string model;                // the SentencePiece file; written by train
  std::vector<std::string> inputs;  // train: text files; encode, decode: stdin when empty
  std::string output = "-";         // encode, decode, inspect
  int size = 32000;                 // train: number of pieces, including bytes and special ones
  VocabularyType type = VocabularyType::bpe;
  std::string normalization = "nmt_nfkc";
  double character_coverage = 1;
  bool no_byte_fallback = false;
  std::vector<std::string> protected_symbols;  // pieces that are never split
  double alpha = 0;                            // encode: subword sampling; 0: the best segmentation
  uint64_t seed = 1;                           // of sampling and training
  bool ids = false;                            // encode, decode: ids instead of pieces
  int cpu_threads = 0;                         // 0: one per core
};

inline std::span<const EnumName<Precision>> enum_names(Precision) {
  static constexpr EnumName<Precision> names[] = {{Precision::automatic, "auto"},
                                                  {Precision::float32, "float32"},
                                                  {Precision::bfloat16, "bfloat16"},
                                                  {Precision::float16, "float16"},
                                                  {Precision::int8, "int8"}};
  return names;
}
inline std::span<const EnumName<ExplanationFormat>> enum_names(ExplanationFormat) {
  static constexpr EnumName<ExplanationFormat> names[] = {{ExplanationFormat::automatic, "auto"},
                                                          {ExplanationFormat::html, "html"},
                                                          {ExplanationFormat::json, "json"},
                                                          {ExplanationFormat::text, "text"}};
  return names;
}
inline std::span<const EnumName<Sampling>> enum_names(Sampling) {
  static constexpr EnumName<Sampling> names[] = {
      {Sampling::full, "full"}, {Sampling::topk, "topk"}, {Sampling::nucleus, "nucleus"}};
  return names;
}
inline std::span<const EnumName<DecoderCell>> enum_names(DecoderCell) {
  static constexpr EnumName<DecoderCell> names[] = {{DecoderCell::automatic, "auto"},
                                                    {DecoderCell::gru, "gru"},
                                                    {DecoderCell::lstm, "lstm"},
                                                    {DecoderCell::ssru, "ssru"}};
  return names;
}
inline std::span<const EnumName<Summary>> enum_names(Summary) {
  static constexpr EnumName<Summary> names[] = {{Summary::none, "none"},
                                                {Summary::cross_entropy, "cross-entropy"},
                                                {Summary::ce_mean, "ce-mean"},
                                                {Summary::ce_mean_words, "ce-mean-words"},
                                                {Summary::perplexity, "perplexity"}};
  return names;
}
inline std::span<const EnumName<CorpusMetric>> enum_names(CorpusMetric) {
  static constexpr EnumName<CorpusMetric> names[] = {
      {CorpusMetric::bleu, "bleu"},  {CorpusMetric::chrf, "chrf"},   {CorpusMetric::chrf_plus_plus, "chrf++"},
      {CorpusMetric::ter, "ter"},    {CorpusMetric::rouge, "rouge"}, {CorpusMetric::exact, "exact"},
      {CorpusMetric::evalb, "evalb"}};
  return names;
}
inline std::span<const EnumName<Shell>> enum_names(Shell) {
  static constexpr EnumName<Shell> names[] = {{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}};
  return names;
}
inline std::span<const EnumName<VocabAction>> enum_names(VocabAction) {
  static constexpr EnumName<VocabAction> names[] = {{VocabAction::train, "train"},
                                                    {VocabAction::encode, "encode"},
                                                    {VocabAction::decode, "decode"},
                                                    {VocabAction::inspect, "inspect"}};
  return names;
}

int train_command(Engine& engine, const TrainOptions& options);
int data_command(Engine& engine, const DataCommandOptions& options);
int plot_command(Engine& engine, const PlotOptions& options);
int translate_command(Engine& engine, const TranslateCommandOptions& options);
int score_command(Engine& engine, const ScoreOptions& options);
int explain_command(Engine& engine, const ExplainOptions& options);
int align_command(Engine& engine, const AlignOptions& options);
int average_command(Engine& engine, const AverageOptions& options);
int quantize_command(Engine& engine, const QuantizeOptions& options);
int vocab_command(Engine& engine, const VocabOptions& options);
int evaluate_command(Engine& engine, const EvaluateOptions& options);
int inspect_command(Engine& engine, const InspectOptions& options);
int completion_command(Engine& engine, const CompletionOptions& options);

}  // namespace dragoman
