#pragma once
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

/// Bytes of the files of a checkpoint.
struct CheckpointSize {
  int64_t model = 0, state = 0;
};

/// The model file has the weights, the state two moments and perhaps averages too.
CheckpointSize checkpoint_size(int64_t parameters, const Vocabularies& vocabularies, bool averaged);

/// What is saved of a run: all of it, so that a run resumes from the state alone. The state holds the raw parameters
/// (the model file the smoothed ones where there is an average), the moments, the averages, the progress and the
/// baseline of the model.
struct RunState {
  Parameters& parameters;
  Adam& adam;
  std::optional<MovingAverage>& average;
  Progress& progress;
  Baseline& baseline;
  const Ownership& ownership;   // of moments and averages; its slices are the run's gradient shards
  std::string arithmetic = {};  // threads, libraries, instructions: with the same a run resumes to the same bits
};

/// What of the options and the corpus fixes the order of batches: where it differs, a position means nothing.
struct BatchOrder {
  uint64_t fingerprint = 0;  // of the corpus
  std::string options;
  int64_t batch_words = 0;  // --mini-batch-words, which --mini-batch-fit may have found
};
BatchOrder batch_order(const Corpus& corpus, const TrainingSetup& setup);

/// All ranks call it; rank 0 gathers what is theirs and writes the file.
void save_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order);

/// With what limit of words the batches of a state's run were made; none: it does not say.
std::optional<int64_t> batch_words_of(const std::string& state_path);

/// Into how many shards the updates of a state's run are cut.
int gradient_shards_of(const std::string& state_path);

/// What a run resumes from a state; the rest is reset.
struct Restore {
  bool corpus = true;     // the position in the epoch
  bool optimizer = true;  // moments and their number of updates
};

/// Error that names what the file at `path`, with the configuration `stored`, and the model that is asked for differ
/// in.
void require_same_model(const std::string& path, const ModelConfig& stored, const ModelConfig& config);

/// Fills the run. Error when the file is of another model, or holds averages where the run wants none. When the order
/// of batches has changed, logs this and restarts the epoch; when the arithmetic has, only says so; when
/// the file holds no averages and the run wants some, they begin with its parameters.
void load_state(const std::string& path, const RunState& run, const ModelConfig& config, const BatchOrder& order,
                Restore restore = {});

/// Writes "model.update8000.safetensors" and removes all but the last `keep` of that kind. Those of later updates are
/// another run's: they stay and do not count.
void save_numbered(const std::string& model_path, int64_t update, int64_t keep,
                   const std::function<void(const std::string&)>& save);

}  // namespace dragoman
