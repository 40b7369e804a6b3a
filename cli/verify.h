#pragma once
#include "cli/convert_options.h"

namespace dragoman {

class Engine;

/// Compares the other program's results for its model with dragoman's: log-probabilities of dragoman's greedy
/// translations of a text, and its own greedy translations. Prints what differs. Error if the program is not installed
/// for python3 (pymarian, transformers, ctranslate2).
void verify_conversion(Engine& engine, ConvertCommandOptions options);

}  // namespace dragoman
