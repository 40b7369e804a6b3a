#pragma once
#include <vector>

#include "base/error.h"
#include "dragoman/evaluate.h"

namespace dragoman {

/// Options that contradict each other, or that the requested metrics and tests would ignore. Only the numbers of files
/// matter, not their names.
std::vector<Error> problems_of(const EvaluateOptions& options);

}  // namespace dragoman
