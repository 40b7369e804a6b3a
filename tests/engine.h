#pragma once
#include "dragoman/engine.h"

namespace dragoman {

/// What commands run on that a test calls.
inline Engine engine;

}  // namespace dragoman
