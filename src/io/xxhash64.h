#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace dragoman {

/// XXH64 with seed 0 (Collet, https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md) of bytes that come in chunks. It
/// detects damaged files at memory speed, and every language offers it, so other programs can check and write our
/// checksums. It does not protect against deliberate changes.
class XxHash64 {
 public:
  XxHash64();
  void add(std::span<const std::byte> bytes);
  uint64_t digest() const;  // of all bytes so far

 private:
  static constexpr size_t stripe = 32;  // bytes: four lanes of eight

  void consume(const std::byte* bytes);  // one stripe

  uint64_t lanes_[4];
  std::byte rest_[stripe];  // the bytes since the last whole stripe: total_ % stripe of them
  uint64_t total_ = 0;
};

}  // namespace dragoman
