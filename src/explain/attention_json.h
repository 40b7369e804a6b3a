#pragma once
#include <string>

#include "explain/explanation.h"

namespace dragoman {

/// An explanation as one line of JSON (docs/explain.md). Weights have six digits; one that is not finite is null.
std::string to_json(const Explanation& explanation);

}  // namespace dragoman
