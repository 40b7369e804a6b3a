#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace dragoman {

/// The bytes of numbers, one after the other.
template <class T>
std::vector<std::byte> raw_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace dragoman
