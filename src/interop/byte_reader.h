#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"

namespace dragoman {

/// Reads an in-memory file from its beginning. Checks every size in the file against the number of bytes left.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> file, const std::string& path) : rest_(file), size_(file.size()), path_(path) {}

  std::span<const std::byte> take(uint64_t bytes) {
    require(bytes <= rest_.size(), "{} is damaged: {} bytes are missing at byte {}", path_, bytes - rest_.size(),
            size_ - rest_.size());
    const auto taken = rest_.first(size_t(bytes));
    rest_ = rest_.subspan(size_t(bytes));
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  size_t left() const { return rest_.size(); }
  size_t position() const { return size_ - rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  const size_t size_;
  const std::string& path_;
};

}  // namespace dragoman
