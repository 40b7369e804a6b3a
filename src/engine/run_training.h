#pragma once
#include "comm/communicator.h"
#include "dragoman/train.h"
#include "options/train_options.h"
#include "train/setup.h"

namespace dragoman {

struct Backend;

/// A training run with checked options: locks the model, opens the log file and trains. Used by train() and by the
/// command. With several processes, all call it together.
TrainResult run_training(const TrainOptions& options, const Backend& backend, RunControl& control, Communicator& ranks);

/// The options that determine the run.
TrainingSetup setup_of(const TrainOptions& options);

}  // namespace dragoman
