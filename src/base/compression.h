#pragma once
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "base/file.h"

namespace dragoman {

/// How a text file is compressed: its name says so (.gz, .xz, .zst). Several compressed files laid end to end are one.
enum class Compression { none, gzip, xz, zstd };

Compression compression_of(const std::string& path);

/// The decompressed content of `file`, which must outlive the buffer. What zstd's stream interface cannot tell, a file
/// that was cut off, is found by a walk over the block headers of a regular file before the first byte is given out.
std::unique_ptr<std::streambuf> decompress(FileDescriptor& file, Compression compression);

/// Compresses what is written. Each call throws what writing the file throws.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual void write(std::string_view data) = 0;
  virtual void finish() = 0;  // the last block and the checksum
};

/// Compresses into `file`, which must outlive the encoder; nullptr for Compression::none.
std::unique_ptr<Encoder> compress(FileDescriptor& file, Compression compression);

}  // namespace dragoman
