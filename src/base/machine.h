#pragma once
#include <cstdint>
#include <filesystem>

namespace dragoman {

/// The machine's memory in bytes, or less if the process runs in a container (a control group) that may use less.
int64_t machine_memory();

/// The bytes of `memory` that programs could still use, as far as the system says; 0: it does not say. What the
/// process's own control group already uses is not subtracted.
int64_t available_memory(int64_t memory = machine_memory(), const std::filesystem::path& report = "/proc/meminfo");

/// The limit of the process's control groups in bytes, of version 1 or 2 (cgroups(7)); the largest number if there is
/// none.
int64_t container_memory(const std::filesystem::path& groups = "/proc/self/cgroup",
                         const std::filesystem::path& root = "/sys/fs/cgroup");

/// How many bytes of addresses the process may still reserve (`ulimit -v`); the largest number if there is no limit.
int64_t addresses_left();

/// The resident memory of this process, in bytes; 0 if the system does not report it.
int64_t resident_memory();

}  // namespace dragoman
