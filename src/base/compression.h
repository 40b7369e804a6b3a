#pragma once
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "base/file.h"

namespace dragoman {

/// The compression of a text file, by its name (.gz, .xz, .zst). Concatenated compressed files are read as one.
enum class Compression { none, gzip, xz, zstd };

Compression compression_of(const std::string& path);

/// The decompressed content of `file`, which must outlive the buffer. zstd's stream interface cannot detect a truncated
/// file, so the block headers of a regular file are checked before the first byte is returned. Error for a file whose
/// decompression takes more than 130 MiB of memory.
std::unique_ptr<std::streambuf> decompress(FileDescriptor& file, Compression compression);

/// Compresses what is written. Each call throws whatever writing the file throws.
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual void write(std::string_view data) = 0;
  virtual void finish() = 0;  // writes the last block and the checksum
};

/// Compresses into `file`, which must outlive the compressor; nullptr for Compression::none.
std::unique_ptr<Compressor> compress(FileDescriptor& file, Compression compression);

}  // namespace dragoman
