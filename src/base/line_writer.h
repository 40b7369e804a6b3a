#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/compression.h"
#include "base/file.h"

namespace dragoman {

/// Writes lines to a text file, compressed if its name says so (.gz, .xz, .zst), or to stdout ("-"). Buffered: call
/// `flush` where somebody may be waiting for what was written (a compressed file keeps back what it has not compressed
/// yet), and `close` at the end, which throws what went wrong. Error names the file; BrokenPipe (base/file.h) when the
/// reader of a pipe has gone.
class LineWriter {
 public:
  explicit LineWriter(const std::string& path);
  LineWriter(LineWriter&&) = default;
  ~LineWriter();  // writes what is left, unless the file still holds what it held before; cannot tell about failures

  void write(std::string_view line);       // adds the '\n'
  void write_segment(std::string_view part);  // of a line that write() ends
  void flush();
  void close();
  const std::string& name() const { return file_->name(); }  // the path, or "stdout"

 private:
  std::unique_ptr<FileDescriptor> file_;  // its address is known to encoder_
  std::unique_ptr<Encoder> encoder_;
  std::string buffer_;
};

}  // namespace dragoman
