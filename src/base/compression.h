#pragma once
#include <memory>
#include <streambuf>
#include <string>

#include "base/file.h"

namespace dragoman {

/// How a text file is compressed: its name says so (.gz, .xz, .zst). Several compressed files laid end to end are one.
enum class Compression { none, gzip, xz, zstd };

Compression compression_of(const std::string& path);

/// The decompressed content of `file`, which must outlive the buffer. What zstd's stream interface cannot tell, a file
/// that was cut off, is found by a walk over the block headers of a regular file before the first byte is given out.
std::unique_ptr<std::streambuf> decompress(FileDescriptor& file, Compression compression);

/// Compresses into `file`, which must outlive the buffer. `finish` writes the last block and the checksum.
std::unique_ptr<std::streambuf> compress(FileDescriptor& file, Compression compression);
void finish(std::streambuf& compressor);

}  // namespace dragoman
