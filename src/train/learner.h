#pragma once
#include <string>

#include "model/model.h"
#include "train/setup.h"

namespace dragoman {

/// How many tokens of a side go forward and back together. What a batch leaves behind for its way back then stays near
/// the processor and needs little memory, whatever the size of batches; more rows would make no product faster.
constexpr int64_t rows_at_once = 1024;

/// Teaches a model one batch: forward and back, in parts of `rows_at_once`.
struct Learner {
  const Backend& backend;
  Arena& arena;
  Model& model;
  const TrainingSetup& setup;
  std::string culprit;  // with --check-nan: the first tensor that was not finite since this was emptied

  /// Gradients add up in the parameters. Returns the sum of losses.
  double learn(const Batch& batch, int64_t update);

 private:
  double learn_part(const Batch& part, int64_t update);
};

}  // namespace dragoman
