#pragma once
#include "backend/backend.h"

namespace dragoman::cpu {

void install(Backend& backend);

}  // namespace dragoman::cpu
