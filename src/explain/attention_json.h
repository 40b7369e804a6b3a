#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// An explanation as one line of JSON (docs/explain.md). Weights have six digits; non-finite ones are null.
std::string to_json(const Explanation& explanation);

/// A matrix as a list of rows, formatted likewise.
std::string json_rows(const std::vector<float>& values, int64_t cols);

}  // namespace dragoman
