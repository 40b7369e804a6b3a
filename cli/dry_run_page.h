#pragma once
#include <string>

#include "options/train_options.h"
#include "train/dry_run.h"

namespace dragoman {

/// What `dragoman train --dry-run` prints.
std::string dry_run_page(const DryRun& run, const TrainOptions& options);

}  // namespace dragoman
