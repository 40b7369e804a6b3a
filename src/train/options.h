#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "runlog/options.h"
#include "train/frequency.h"

namespace dragoman {

/// What validation can measure. bleu, chrf and translation, which asks a script, translate the validation set with beam
/// search.
enum class ValidMetric { cross_entropy, perplexity, bleu, chrf, translation };

inline std::span<const EnumName<ValidMetric>> enum_names(ValidMetric) {
  static constexpr EnumName<ValidMetric> names[] = {{ValidMetric::cross_entropy, "cross-entropy"},
                                                    {ValidMetric::perplexity, "perplexity"},
                                                    {ValidMetric::bleu, "bleu"},
                                                    {ValidMetric::chrf, "chrf"},
                                                    {ValidMetric::translation, "translation"},
                                                    // Marian's names for the same:
                                                    {ValidMetric::cross_entropy, "ce-mean-words"},
                                                    {ValidMetric::bleu, "bleu-detok"}};
  return names;
}

/// What products of a training run multiply; all else is float32 in any. fastest: bfloat16 where there are instructions
/// for it, else float32. automatic: that on a GPU, and float32 on a CPU.
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

/// How long a run lasts, how often it reports, validates and saves, and where.
struct TrainingOptions : RunLogOptions {
  std::string model;                    // the model file; the training state lies beside it
  std::string pretrained_model;         // model file whose weights a new run begins with; empty: random ones
  std::vector<std::string> valid_sets;  // {source, target}; empty: no validation
  std::vector<ValidMetric> valid_metrics = {ValidMetric::cross_entropy};  // the first decides early stopping
  Frequency valid_freq = {1000, Frequency::updates};
  Frequency save_freq = {1000, Frequency::updates};
  Frequency disp_freq = {100, Frequency::updates};
  std::vector<Frequency> after;      // the first one reached ends the run; empty: only early stopping does
  int64_t early_stopping = 10;       // validations in a row without improvement; 0: never
  int64_t keep_last = 0;             // numbered checkpoints to keep beside the model, for averaging; 0: none
  bool keep_best = false;            // also keep the best model of each metric
  int64_t max_skipped = 10;          // updates in a row that are not finite before the run goes back; 0: never
  bool check_nan = false;            // look for the first value that is not finite, in every update
  bool no_reload = false;            // begin anew although the model file exists
  bool no_restore_corpus = false;    // on resuming, begin the epoch anew
  bool no_optimizer_reload = false;  // on resuming, begin with the optimiser as it is before the first update
  TrainingPrecision precision = TrainingPrecision::automatic;
  bool half_activations = false;  // activations between products have the type of their factors too
  int gradient_shards = 0;  // into which an update is cut, a power of two; 0: those of the state, else one, and of
                            // several processes eight, or as many as there are processes
  uint64_t seed = 1;
  std::vector<std::string> devices = {"cpu"};  // "cpu", or "cuda:0" and others
  bool no_nccl = false;                        // several GPUs: always through the memory of the host
  bool fast_math = false;                      // of a GPU: products of float32 in TF32
  int cpu_threads = 0;                         // 0: one a core
  int valid_beam_size = 4;
  double valid_normalize = 1;                  // as SearchOptions::normalize
  std::string valid_script_path;               // command line of the script that measures `translation`
  std::vector<std::string> valid_script_args;  // its arguments before the file of translations
  std::string valid_translation_output;        // where translations are kept, {U} is the update; empty: not
  int64_t valid_max_lines = 0;                 // translate only the first lines of the validation set; 0: all
};

}  // namespace dragoman
