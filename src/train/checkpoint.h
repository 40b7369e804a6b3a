#pragma once
#include <algorithm>
#include <optional>

#include "io/model_file.h"
#include "nn/baseline.h"
#include "nn/parameters.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "train/progress.h"
#include "train/run_files.h"
#include "train/setup.h"

namespace dragoman {

/// Sizes in bytes of a checkpoint's files.
struct CheckpointSize {
  int64_t model = 0, state = 0;

  int64_t larger() const { return std::max(model, state); }
  /// On the disk during a save that is not the first: files are replaced one after the other, so that both versions of
  /// only one file exist at the same time.
  int64_t while_replacing() const { return model + state + larger(); }
};

/// The model file has the weights; the state also has two moments and, with exponential smoothing, the averages of
/// those that are not frozen.
CheckpointSize checkpoint_size(const Parameters& parameters, const Vocabularies& vocabularies, bool averaged);

/// What is saved of a run. A run resumes from the state file alone, which contains the raw parameters, the moments and
/// averages of those that are not frozen, the progress and the model's baseline. The model file contains the smoothed
/// parameters if there is an average.
struct RunState {
  Parameters& parameters;
  Adam& adam;
  std::optional<MovingAverage>& average;
  Progress& progress;
  Baseline& baseline;
  const Ownership& ownership;   // of moments and averages; its slices are the run's gradient shards
  std::string arithmetic = {};  // threads, libraries, instruction set; if equal, resuming is bit-exact …
  TrainingPrecision precision = TrainingPrecision::float32;  // … if this is equal too
};

/// The options and corpus properties that determine the order of batches. If they differ, a stored position is
/// meaningless.
struct BatchOrder {
  uint64_t fingerprint = 0;  // of the corpus
  std::string options;
  int64_t batch_words = 0;  // --mini-batch-words, possibly set by --mini-batch-fit
};
BatchOrder batch_order(const Corpus& corpus, const TrainingSetup& setup);

/// All ranks call it; rank 0 gathers their elements and writes the file.
void save_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order);

// Readers of a state: if it is damaged, their Error says what to do without it.

/// The --mini-batch-words of the run that wrote a state; nullopt if the state does not contain it.
std::optional<int64_t> batch_words_of(const std::string& state_path);

/// The number of gradient shards of the run that wrote a state.
int gradient_shards_of(const std::string& state_path);

/// The configuration of the model of the run that wrote a state.
ModelConfig config_of_state(const std::string& state_path);

/// What a run restores from a state; everything else is reset.
struct Restore {
  bool corpus = true;     // the position in the epoch
  bool optimizer = true;  // moments and the optimizer's step count
};

/// Throws an Error that lists the differences between the configuration `stored` in the file at `path` and the
/// requested one.
void require_same_model(const std::string& path, const ModelConfig& stored, const ModelConfig& config);

/// Error unless a run of this model, `averaged` or not, can resume from the state: see load_state. The parameters need
/// no values.
void require_state_of(const std::string& path, const ModelConfig& config, const Parameters& parameters, bool averaged);

/// Restores the run from a state. Error if the file belongs to another model, contains averages that the run does not
/// use, or other low-rank updates than the run has. If the order of batches has changed, logs this and restarts the
/// epoch. If the arithmetic has changed, only logs this; a run that changes to or from float16 starts with the first
/// loss scale of its precision. If the run uses averages and the file contains none, they start from its parameters.
void load_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order,
                Restore restore = {});

}  // namespace dragoman
