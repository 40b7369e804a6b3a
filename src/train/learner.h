#pragma once
#include <string>

#include "model/model.h"
#include "train/setup.h"

namespace dragoman {

/// Teaches a model one batch: forward and back.
struct Learner {
  const Backend& backend;
  Arena& arena;
  Model& model;
  const TrainingSetup& setup;
  std::string culprit;  // with --check-nan: the first tensor that was not finite since this was emptied

  /// Gradients add up in the parameters. Returns the sum of losses.
  double learn(const Batch& batch, int64_t update);
};

}  // namespace dragoman
