#pragma once
#include <cstdint>

#include "dragoman/named_option.h"
#include "dragoman/run_control.h"
#include "dragoman/run_event.h"

namespace dragoman {

class Engine;

struct TrainResult {
  RunEnd::Reason reason = RunEnd::after;  // why training ended
  int64_t updates = 0;                    // of the model, those of earlier calls included
  double epochs = 0;
};

/// Trains a model as `dragoman train` does with these options (docs/options.md), and saves it. A second call with the
/// same options resumes where the first one stopped. `observer` receives its events; `control` lets other threads stop
/// the run, or make it save or validate, and must outlive the call. Error, with the command's message, for options and
/// files that cannot be used, and for --devices, --fast-math, --cpu-threads, --quiet, --profile, --processes,
/// --comm-timeout and --dry-run, which belong to the engine or to the command. Messages go to the engine's log. A text
/// named "-" is the program's stdin.
/// Thread-safe: models of different names may be trained at once, each on an engine of its own.
TrainResult train(Engine& engine, const NamedOptions& options, const RunObserver& observer = {},
                  RunControl* control = nullptr);

}  // namespace dragoman
