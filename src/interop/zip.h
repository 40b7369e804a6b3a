#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dragoman {

/// A zip archive, read entry by entry. Entries may be compressed by deflate. Error, naming the file, if it is not an
/// archive, is damaged, has impossible sizes or has two entries of one name. Thread-safe.
class ZipFile {
 public:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;  // uncompressed
    uint64_t compressed = 0;
  };

  explicit ZipFile(const std::string& path);

  const std::string& path() const;
  const std::vector<Entry>& entries() const;
  /// The first `most` bytes of an entry, or the whole entry if it is shorter.
  std::vector<std::byte> read(const std::string& name, uint64_t most = UINT64_MAX) const;
  /// A whole entry that is then parsed, as text or pickle. Error if it expands as only zip bombs do: what is parsed
  /// takes many times its bytes in memory.
  std::vector<std::byte> read_to_parse(const std::string& name) const;
  /// The bytes of an entry that is stored without compression, in the mapped archive, which must outlive them. The
  /// first call for an entry verifies its checksum. Error if the entry is compressed.
  std::span<const std::byte> stored(const std::string& name) const;

 private:
  size_t index_of(const std::string& name) const;

  struct Archive;
  std::shared_ptr<Archive> archive_;  // copies share it
};

}  // namespace dragoman
