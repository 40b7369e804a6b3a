#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "metrics/tokenize.h"
#include "runlog/options.h"
#include "train/frequency.h"
#include "train/rate_decay.h"
#include "train/stalled.h"

namespace dragoman {

/// Validation metrics. bleu, chrf and translation, which runs a script, translate the validation set with beam search.
enum class ValidMetric { cross_entropy, perplexity, bleu, chrf, translation };

inline std::span<const EnumName<ValidMetric>> enum_names(ValidMetric) {
  static constexpr EnumName<ValidMetric> names[] = {{ValidMetric::cross_entropy, "cross-entropy"},
                                                    {ValidMetric::perplexity, "perplexity"},
                                                    {ValidMetric::bleu, "bleu"},
                                                    {ValidMetric::chrf, "chrf"},
                                                    {ValidMetric::translation, "translation"},
                                                    // Marian's names for these metrics:
                                                    {ValidMetric::cross_entropy, "ce-mean-words"},
                                                    {ValidMetric::bleu, "bleu-detok"}};
  return names;
}

/// The operand type of matrix products in training; everything else is float32 in any case. fastest: bfloat16 if the
/// processor has instructions for it, else float32. automatic: fastest on a GPU, float32 on a CPU.
enum class TrainingPrecision { automatic, fastest, float32, bfloat16, float16 };

inline std::span<const EnumName<TrainingPrecision>> enum_names(TrainingPrecision) {
  static constexpr EnumName<TrainingPrecision> names[] = {{TrainingPrecision::automatic, "auto"},
                                                          {TrainingPrecision::fastest, "fastest"},
                                                          {TrainingPrecision::float32, "float32"},
                                                          {TrainingPrecision::bfloat16, "bfloat16"},
                                                          {TrainingPrecision::float16, "float16"}};
  return names;
}

constexpr int most_gradient_shards = 4096;

/// How long a run lasts, when it reports, validates and saves, and which files it uses.
struct TrainingOptions : RunLogOptions, RateDecayOptions {
  std::string model;                    // the model file; the training state is beside it
  std::string pretrained_model;         // model file with the initial weights of a new run; empty: random weights
  std::vector<std::string> valid_sets;  // {source, target}; empty: no validation
  std::vector<ValidMetric> valid_metrics = {ValidMetric::cross_entropy};
  Frequency valid_freq = {1000, Frequency::updates};
  Frequency save_freq = {1000, Frequency::updates};
  Frequency disp_freq = {100, Frequency::updates};
  std::vector<Frequency> after;  // the first limit reached ends the run; empty: only early stopping ends it
  int64_t early_stopping = 10;   // validations in a row without improvement; 0: never
  StoppingOn early_stopping_on = StoppingOn::first;
  std::vector<double> early_stopping_epsilon = {0};  // the least improvement, of all metrics or of each
  bool valid_reset_stalled = false;                  // on resuming, no validation is stalled
  int64_t keep_last = 0;             // numbered checkpoints to keep beside the model, for averaging; 0: none
  int64_t keep_best = 0;             // 1: also keep the best model of each metric; N > 1: and the N best checkpoints
                                     // by the first one, for averaging
  int64_t max_skipped = 10;          // consecutive non-finite updates that cause a rollback; 0: never
  bool check_nan = false;            // find the first non-finite value, in every update
  bool no_reload = false;            // start from scratch although the model file exists
  bool no_restore_corpus = false;    // on resuming, restart the epoch
  bool no_optimizer_reload = false;  // on resuming, reset the optimizer
  TrainingPrecision precision = TrainingPrecision::automatic;
  bool half_activations = false;  // activations between products are stored in the operand type too
  int gradient_shards = 0;        // per update, a power of two; 0: as in the state, else one; with
                                  // several processes eight, or one per process if there are more
  uint64_t seed = 1;
  bool no_nccl = false;  // with several GPUs, exchange data through host memory
  int valid_beam_size = 4;
  double valid_normalize = 1;                        // as SearchOptions::normalize
  Tokenizer valid_tokenize = Tokenizer::thirteen_a;  // for BLEU
  std::string valid_script_path;                     // command line of the script that measures `translation`
  std::vector<std::string> valid_script_args;        // its arguments before the translation file
  std::string valid_translation_output;              // file for the translations, {U} is the update; empty: not kept
  int64_t valid_max_lines = 0;                       // translate only the first lines of the validation set; 0: all
};

}  // namespace dragoman
