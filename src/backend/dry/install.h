#pragma once
#include "backend/backend.h"

namespace dragoman::dry {

void install(Backend& backend);

}  // namespace dragoman::dry
