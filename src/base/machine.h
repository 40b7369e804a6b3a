#pragma once
#include <cstdint>

namespace dragoman {

/// Bytes of memory that the machine has.
int64_t machine_memory();

}  // namespace dragoman
