#pragma once
#include <cstdint>

namespace dragoman {

/// The machine's memory in bytes.
int64_t machine_memory();

}  // namespace dragoman
