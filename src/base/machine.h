#pragma once
#include <cstdint>

namespace dragoman {

/// The machine's memory in bytes.
int64_t machine_memory();

/// The resident memory of this process, in bytes; 0 if the system does not report it.
int64_t resident_memory();

}  // namespace dragoman
