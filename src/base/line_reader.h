#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/compression.h"
#include "base/error.h"
#include "base/file.h"

namespace dragoman {

/// Reads the lines of a text file, plain or compressed (.gz, .xz, .zst), or of stdin ("-").
/// Lines end only at '\n' (not at U+2028, '\r', form feed …); a last line without '\n' counts too. A '\r' before the
/// '\n' is dropped. NUL bytes are kept. Ill-formed UTF-8 is replaced by U+FFFD and counted; one warning at the end of
/// the file gives the number of such lines and the first one.
/// A byte-order mark (U+FEFF) at the start of the text is dropped.
/// Throws Error for UTF-16 text, for models, images and archives, and for compressed text from stdin or from a name
/// without the ending. From a pipe, they are recognised unless their first line comes before enough other bytes do.
class LineReader {
 public:
  /// Hints say to give a text file `with` this.
  explicit LineReader(const std::string& path, std::string_view with = "one sentence per line");

  /// Maximum bytes of a line read whole: a few kilobytes of compressed text may expand to a line of many gigabytes.
  static constexpr size_t longest_line = size_t{16} << 20;

  /// Reads the next line; false at the end. Error if it exceeds `longest_line` bytes. Blocks on a pipe when `ready()`
  /// would return false.
  bool next(std::string& line);
  /// The error for the current line, if it exceeds `longest_line` bytes.
  Error too_long() const;

  /// The same for lines that may not fit in memory: reads at most `longest` bytes (at least 8) of the next line. `more`
  /// says that the next call continues the line. The cut is at the last blank of the second half, which is dropped,
  /// else between two characters.
  bool next_segment(std::string& part, size_t longest, bool& more);

  /// The same for lines that must be short: Error if one exceeds `longest` bytes (at least 8).
  bool next_short(std::string& line, size_t longest);

  /// Whether `next` returns without blocking: a whole line, or the end, is buffered or can be read at once. With
  /// `longest`, the same for next_segment. False if the file cannot be read on: `next` then throws, after the caller
  /// has used the lines that it has.
  bool ready(size_t longest = std::string::npos);

  /// Waits until `next` returns or throws without blocking; false if stopped before that.
  bool wait(const std::stop_token& stop);

  bool ended() const { return at_end_ && begin_ == end_; }  // `next` would return false; known after wait() or ready()

  /// Fraction of a regular file returned so far, 0…1; -1 for pipes and the like.
  double share() const;

  bool is_regular() const { return file_->is_regular(); }  // a file on disk, not a pipe, terminal or device
  int64_t lines() const { return lines_; }                 // started so far: the 1-based number of the current line
  int64_t invalid_lines() const { return invalid_lines_; }
  const std::string& name() const { return file_->name(); }  // the path, or "stdin"

 private:
  bool find_line_end();
  bool fill();
  size_t read_block(char* data, size_t bytes);
  void check_begin();
  void refuse_binary(std::string_view begin) const;
  void clean(std::string& line);
  void report_invalid();

  std::string with_;                            // in hints
  std::unique_ptr<FileDescriptor> file_;        // decompressor_ points to it
  std::unique_ptr<Decompressor> decompressor_;  // none: plain text
  std::exception_ptr failure_;                  // that ready() has met
  std::vector<char> buffer_;
  size_t begin_ = 0, searched_ = 0, end_ = 0;  // [begin_, end_) is unread; no '\n' before searched_
  bool has_mark_ = false;                      // the text begins with a byte-order mark, which is dropped
  bool at_end_ = false, reported_ = false;
  bool within_line_ = false;  // a segment of it has been returned
  int64_t lines_ = 0, invalid_lines_ = 0, first_invalid_line_ = 0, last_invalid_line_ = 0;
};

}  // namespace dragoman
