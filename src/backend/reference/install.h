#pragma once
#include "backend/backend.h"

namespace dragoman::reference {

void install(Backend& backend);

}  // namespace dragoman::reference
