#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace dragoman {

/// The compression of a text file, by its name (.gz, .xz, .zst). Concatenated compressed files are read as one.
enum class Compression { none, gzip, xz, zstd };

Compression compression_of(const std::string& path);

/// The decompressed content of a file, which must outlive it. Whoever reads a pipe decides when to wait: a call reads
/// the file at most once, and returns what can be decompressed by then.
class Decompressor {
 public:
  explicit Decompressor(FileDescriptor& file);
  virtual ~Decompressor() = default;
  Decompressor(const Decompressor&) = delete;

  /// Up to `bytes` bytes; may be 0 before the end. std::ios_base::failure if the data is damaged or truncated, after
  /// what comes before the damage was returned.
  size_t read(char* data, size_t bytes);
  /// Whether the next call reads the file, and so may block.
  bool reads_file() const { return drained_ && input_.empty() && !at_end_; }
  bool ended() const { return ended_; }  // known after a call that returned 0

 protected:
  /// Decompresses from input_, of which it removes what it has consumed. Returns `bytes` if the decoder may hold more
  /// output; 0 only if it needs more input, or at the end.
  virtual size_t decode(char* data, size_t bytes) = 0;

  FileDescriptor& file_;
  std::string_view input_;  // read, not yet consumed
  bool at_end_ = false;     // of the file: nothing follows input_

 private:
  std::vector<char> in_;
  bool drained_ = true;  // no output is left in the decoder
  bool ended_ = false;
};

/// nullptr for Compression::none. Reading is an Error for a file whose decompression takes more than 130 MiB of memory.
std::unique_ptr<Decompressor> decompress(FileDescriptor& file, Compression compression);

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
