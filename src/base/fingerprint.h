#pragma once
#include <cstdint>
#include <string_view>

namespace dragoman {

/// FNV-1a of 64 bits (Fowler, Noll, Vo) of a sequence of texts: short, and the same on every machine.
class Fingerprint {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(byte);
    add_byte('\n');  // so that "ab", "c" differs from "a", "bc"
  }
  uint64_t value() const { return hash_; }

 private:
  void add_byte(char byte) { hash_ = (hash_ ^ uint8_t(byte)) * 0x100000001b3; }

  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace dragoman
