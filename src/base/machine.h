#pragma once
#include <cstdint>

namespace dragoman {

/// The machine's memory in bytes.
int64_t machine_memory();

/// What this process has in memory now, in bytes; 0 where the system does not say.
int64_t resident_memory();

}  // namespace dragoman
