#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"

namespace dragoman {

/// A file without a name: unlinked as soon as it is created, so its space is freed however the process ends. First
/// written from start to end, then read at any position.
class TemporaryFile {
 public:
  struct InMemory {};

  explicit TemporaryFile(const std::string& folder);
  explicit TemporaryFile(InMemory);

  void append(std::span<const std::byte> bytes) { writer_.write(bytes.data(), bytes.size()); }
  void flush() { writer_.flush(); }  // call before reading

  /// Fills `into`, reading from `offset`. Several threads may read at once.
  void read(int64_t offset, std::span<std::byte> into) const;
  /// Another descriptor of the file, for reading.
  FileDescriptor opened() const { return FileDescriptor::to_read(path_of(read_)); }

 private:
  struct Path {
    std::string name;
  };
  explicit TemporaryFile(const Path& path);
  static std::string path_of(const FileDescriptor& file);  // /proc/self/fd/…

  FileDescriptor written_, read_;
  FileWriter writer_;
};

/// The default folder of temporary files: TMPDIR, else /tmp.
std::string temporary_folder();

/// Free bytes on the disk of a folder; a very large number if the system does not say.
int64_t free_space_in(const std::string& folder);

}  // namespace dragoman
