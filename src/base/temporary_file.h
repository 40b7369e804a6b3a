#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"

namespace dragoman {

/// A file without a name: it leaves its folder as soon as it is made, so its space is free again when the process ends,
/// however it ends. First written from the beginning to the end, then read anywhere.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder);

  void append(std::span<const std::byte> bytes) { writer_.write(bytes.data(), bytes.size()); }
  void flush() { writer_.flush(); }  // before anything is read

  /// Fills `into` from `offset` on. Several threads may read at once.
  void read(int64_t offset, std::span<std::byte> into) const;

 private:
  struct Path {
    std::string name;
  };
  explicit TemporaryFile(const Path& path);

  FileDescriptor written_, read_;
  FileWriter writer_;
};

/// Where temporary files go unless somebody says otherwise: TMPDIR, else /tmp.
std::string temporary_folder();

/// Bytes that the disk of a folder has free; a very large number where the system does not say.
int64_t free_space_in(const std::string& folder);

}  // namespace dragoman
