#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/compression.h"
#include "base/file.h"

namespace dragoman {

/// Writes lines to a text file, compressed if its name says so (.gz, .xz, .zst), or to stdout ("-"). Buffered: call
/// `flush` when a reader may be waiting (a compressed file still holds back data not yet compressed), and `close` at
/// the end, which throws pending errors. Error names the file; BrokenPipe (base/file.h) when the reader of a pipe has
/// closed it.
class LineWriter {
 public:
  explicit LineWriter(const std::string& path);
  explicit LineWriter(std::string& text);                     // appends to a text in memory, which outlives it
  LineWriter(FileDescriptor& file, Compression compression);  // which outlives it and stays open
  LineWriter(LineWriter&&) = default;
  ~LineWriter();  // flushes, unless the file still holds its old content; cannot report failures

  void write(std::string_view line);          // adds the '\n'
  void write_segment(std::string_view part);  // of a line that write() ends
  void flush();
  void close();
  const std::string& name() const { return file_->name(); }  // the path, or "stdout"

 private:
  std::string* text_ = nullptr;            // in place of a file
  std::unique_ptr<FileDescriptor> owned_;  // of a path
  FileDescriptor* file_ = nullptr;         // compressor_ points to it
  std::unique_ptr<Compressor> compressor_;
  std::string buffer_;
};

/// A file of these lines.
void write_lines(const std::string& path, const std::vector<std::string>& lines);

/// Whether write_lines_atomically() writes into the file as it comes, as nothing can replace it: stdout ("-"), pipes,
/// devices, open files by their names in /dev and /proc, a file that is mounted, and one that the user may write to in
/// a folder that the user may not write to. Not a folder, which is an error.
bool is_written_in_place(const std::string& path);

/// Calls `write` with the writer of a file that appears completely or not at all, as by write_atomically (base/file.h),
/// except where is_written_in_place(). `write` need not close.
void write_lines_atomically(const std::string& path, const std::function<void(LineWriter&)>& write);

}  // namespace dragoman
