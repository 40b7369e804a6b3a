#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// An explanation as one line of JSON (docs/explain.md). Weights have six digits; one that is not finite is null.
std::string to_json(const Explanation& explanation);

/// A matrix as a list of rows, with the same digits.
std::string json_rows(const std::vector<float>& values, int64_t cols);

}  // namespace dragoman
