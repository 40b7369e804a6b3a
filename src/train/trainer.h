#pragma once
#include "train/checkpoint.h"
#include "train/memory.h"
#include "train/validate.h"

namespace dragoman {

/// The vocabularies of --vocabs; those whose files are missing are made from the training text first.
Vocabularies open_vocabularies(const TrainingSetup& setup);

/// A training run, from files to the finished model. Goes on where a run with the same --model stopped.
class Trainer {
 public:
  /// Reads everything and checks that it fits into memory, before the first update.
  Trainer(TrainingSetup setup, const Backend& backend);

  /// Trains until one of --after is reached, validation stalls or the process is asked to end (SIGINT, SIGTERM: after
  /// the update at hand). The model is saved at the end in each case.
  void run();

  const Progress& progress() const { return progress_; }
  Model& model() { return *model_; }

 private:
  void begin_or_go_on();
  double rate() const;
  double update(BatchStream& batches, Window& window);
  double learn(const Batch& batch);
  void report(const std::string& line);
  void validate();
  void note(size_t metric, double value);
  bool is_best(ValidMetric metric, double value);
  void save();
  bool stalled() const;
  std::string ending() const;

  TrainingSetup setup_;
  const Backend& backend_;
  Arena arena_;
  Vocabularies vocabularies_;
  std::shared_ptr<const Corpus> corpus_;
  BatchOrder order_;
  std::unique_ptr<Model> model_;
  Adam adam_;
  std::optional<MovingAverage> average_;
  Validation validation_;
  Progress progress_;
  ProgressBar bar_;
  int64_t saved_ = -1;  // update of the last save by this process
};

}  // namespace dragoman
