#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"

namespace dragoman::cuda {

void install(Backend& backend, int device, bool fast);

/// The available GPUs, one line each.
std::vector<std::string> devices();

}  // namespace dragoman::cuda
