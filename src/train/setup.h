#pragma once
#include "data/options.h"
#include "model/config.h"
#include "optim/options.h"
#include "train/options.h"

namespace dragoman {

/// All settings of a training run.
struct TrainingSetup {
  ModelConfig model;
  DataOptions data;
  OptimizerOptions optimizer;
  TrainingOptions training;
};

}  // namespace dragoman
