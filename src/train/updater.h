#pragma once
#include <optional>
#include <span>
#include <string>

#include "comm/gradient_tree.h"
#include "data/prefetch.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "runlog/run_log.h"
#include "train/learner.h"
#include "train/progress.h"

namespace dragoman {

/// Makes updates, and skips an update if its loss or gradient is not finite. If only float16 overflowed, the loss scale
/// is lowered. On a GPU, the outcome of an update is read only after the next forward and backward passes have been
/// enqueued. The references must outlive it.
class Updater {
 public:
  /// Micro-batches have at most `rows` tokens per side. `progress` counts updates, `log` receives the skipped ones. All
  /// `ranks` make the same updates together.
  Updater(const TrainingSetup& setup, const Backend& backend, Arena& arena, Model& model, int64_t rows,
          Progress& progress, RunLog& log, Communicator& ranks);

  /// Forward and backward passes of --optimizer-delay batches, then Adam. At the end of a text stream there may be
  /// fewer batches, at least one.
  void update(BatchStream& batches);
  /// Waits for the outcome of the last update.
  void finish();
  /// Whether the last --max-skipped updates were all skipped.
  bool diverged() const;
  /// The first non-finite tensor of the last skipped update; empty if unknown.
  const std::string& first_nonfinite() const { return first_nonfinite_; }
  double rate() const;
  /// The maximum number of tokens per side that are computed at once.
  int64_t rows() const { return learner_.rows(); }

  /// The mean loss of the links that attention has learned since the last call, if there are any: guided alignment.
  std::optional<double> take_loss_of_links();
  Window& window() { return window_; }  // of updates that were not skipped; its reader resets it
  Adam& adam() { return adam_; }
  std::optional<MovingAverage>& average() { return average_; }
  const Ownership& ownership() const { return ownership_; }

 private:
  struct Unfinished {
    int64_t target_tokens = 0;
    double weight = 0;          // sum of the target tokens' weights
    bool has_gradients = true;  // false: overwritten by those of the next update
  };
  void count_longest(const Batch& batch);
  double expected_weight_of(const Batch& batch);
  void learn(std::span<const Batch> of_update);
  void learn_shards(std::span<const Batch> of_update);
  void share_loss_of_links(const std::vector<Learner::LossOfLinks>& of_shards);
  bool may_run_ahead() const;
  void skip(const Unfinished& update, const Adam::Outcome& outcome);
  bool scales_less(const Adam::Outcome& outcome);
  std::string find_first_nonfinite(const Unfinished& update, const Adam::Outcome& outcome);

  const TrainingSetup& setup_;
  const Backend& backend_;
  Arena& arena_;
  Model& model_;
  const Ownership ownership_;
  Adam adam_;
  Learner learner_;
  std::optional<GradientTree> tree_;  // with several shards
  ShardStatistics statistics_;
  std::optional<MovingAverage> average_;
  Progress& progress_;
  RunLog& log_;
  Window window_;
  Learner::LossOfLinks links_;            // of updates with shards
  std::optional<Unfinished> unfinished_;  // the last update, until its outcome is known
  std::string first_nonfinite_;
};

}  // namespace dragoman
