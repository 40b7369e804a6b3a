#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman {

/// An amount of memory, written with its unit: "512M", "4G", "1.5G"; K, M and G are 2^10, 2^20 and 2^30 bytes.
struct MemorySize {
  int64_t bytes = 0;
  bool operator==(const MemorySize&) const = default;
};

/// Throws Error unless `text` is a number above 0 with a unit, or 0.
MemorySize parse_memory_size(std::string_view text);

/// Text that parse_memory_size() reads back.
std::string to_string(MemorySize size);

}  // namespace dragoman
