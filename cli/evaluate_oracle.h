#pragma once

#include "cli/evaluate_options.h"

namespace dragoman {

/// Prints the result of `evaluate --oracle`: the translation with the best sentence BLEU in each line's n-best list.
/// Holds one reference line and its translations in memory.
void print_oracle(const EvaluateCommandOptions& options);

}  // namespace dragoman
