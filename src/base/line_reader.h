#pragma once
#include <cstdint>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace dragoman {

/// The lines of a text file, plain or compressed (.gz, .xz, .zst), or of stdin ("-").
/// A line ends at '\n' and nowhere else (not at U+2028, '\r', form feed …), a last line without '\n' is a line too. A
/// '\r' before the end does not belong to it. NUL bytes are kept. Ill-formed UTF-8 is replaced by U+FFFD and counted;
/// one warning at the end of the file says how many lines had some and which was the first.
/// A byte-order mark (U+FEFF) at the very beginning of the text is no part of its first line.
/// Error for text in UTF-16, for compressed text under a name, or through stdin, that does not tell, and for
/// models.
class LineReader {
 public:
  explicit LineReader(const std::string& path);

  /// What a line may have that is read whole: a few kilobytes of compressed text may be a line of many gigabytes.
  static constexpr size_t longest_line = size_t{16} << 20;

  /// The next line; false at the end. Error for one of more than `longest_line` bytes. Waits for a pipe when `ready()`
  /// is false.
  bool next(std::string& line);

  /// The same for lines that memory may not hold: at most `longest` bytes (at least 8) of the next line. `more` says
  /// that the line goes on with the next call. The cut is at the last blank of the second half, which is left out, else
  /// between two characters.
  bool next_segment(std::string& part, size_t longest, bool& more);

  /// The same for lines that have to be short: Error for one of more than `longest` bytes (at least 8).
  bool next_short(std::string& line, size_t longest);

  /// Whether `next` returns without waiting: a whole line, or the end, is here already or can be read at once. With
  /// `longest`, whether next_segment does.
  bool ready(size_t longest = std::string::npos);

  /// How much of a regular file has been returned, 0…1; -1 for pipes and the like.
  double share() const;

  int64_t lines() const { return lines_; }  // begun so far; so the number of the last one, counted from 1
  int64_t invalid_lines() const { return invalid_lines_; }
  int64_t first_invalid_line() const { return first_invalid_line_; }  // 0: none
  const std::string& name() const { return file_->name(); }           // the path, or "stdin"

 private:
  bool find_line_end();
  bool fill();
  size_t read_block(char* data, size_t bytes);
  void refuse_binary(std::string_view begin) const;
  void begin_text();
  void clean(std::string& line);
  void report_invalid();

  std::unique_ptr<FileDescriptor> file_;  // its address is known to decoder_
  std::unique_ptr<std::streambuf> decoder_;
  std::vector<char> buffer_;
  size_t begin_ = 0, searched_ = 0, end_ = 0;  // unread is [begin_, end_), without '\n' up to searched_
  bool begun_ = false, at_end_ = false, reported_ = false;
  bool within_line_ = false;  // a part of it has been returned
  int64_t lines_ = 0, invalid_lines_ = 0, first_invalid_line_ = 0, last_invalid_line_ = 0;
};

/// Every line of a file, for small ones.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace dragoman
