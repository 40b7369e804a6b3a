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

/// Makes updates and decides about each: it counts, or it is skipped because its loss or gradient is not finite; where
/// that is for float16 alone, losses are scaled less from there on. A GPU is asked how an update went only when it has
/// the gradients of the next to compute. The references must outlive it.
class Updater {
 public:
  /// Takes at most `rows` tokens of a side together. `progress` counts updates, `log` hears of skipped ones. Of several
  /// `ranks`, all make the same updates together.
  Updater(const TrainingSetup& setup, const Backend& backend, Arena& arena, Model& model, int64_t rows,
          Progress& progress, RunLog& log, Communicator& ranks);

  /// --optimizer-delay batches forward and back, then Adam.
  void update(BatchStream& batches);
  /// Waits until it is known how the last update went.
  void finish();
  /// Whether --max-skipped updates in a row were not finite.
  bool diverged() const;
  /// The first tensor that was not finite in the last update that was skipped; empty where that is not known.
  const std::string& first_nonfinite() const { return first_nonfinite_; }
  double rate() const;

  Window& window() { return window_; }  // of updates that count; its reader begins it anew
  Adam& adam() { return adam_; }
  std::optional<MovingAverage>& average() { return average_; }
  const Ownership& ownership() const { return ownership_; }

 private:
  struct Unfinished {
    int64_t target_tokens = 0;
    double weight = 0;                                          // of the target tokens
    bool has_gradients = true;                                  // or they are those of the next by now
    double divisor() const { return weight > 0 ? weight : 1; }  // of 0 the gradients are 0 too
  };
  void learn(std::span<const Batch> of_update);
  void learn_shards(std::span<const Batch> of_update);
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
  std::optional<Unfinished> unfinished_;  // the last update, while it is not known how it went
  std::string first_nonfinite_;
};

}  // namespace dragoman
