#pragma once
#include "cli/options.h"

namespace dragoman {

/// What `evaluate --oracle` prints: of the n-best list of each line, the translation with the best sentence BLEU. A
/// line of the reference, with its translations, is in memory.
void print_oracle(const EvaluateOptions& options);

}  // namespace dragoman
