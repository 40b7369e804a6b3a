#pragma once
#include "comm/communicator.h"
#include "dragoman/train.h"
#include "options/train_options.h"
#include "train/setup.h"

namespace dragoman {

struct Backend;

/// A training run with options that have been checked: alone on its model, with its log file. What train() and the
/// command do; of several processes, all call it together.
TrainResult run_training(const TrainOptions& options, const Backend& backend, RunControl& control, Communicator& ranks);

/// The part of the options that decides the run.
TrainingSetup setup_of(const TrainOptions& options);

}  // namespace dragoman
