#pragma once
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "decode/options.h"

namespace dragoman {

/// Reads lines to translate. Lines longer than a mebibyte come in chunks, but not with `force_decode` or `constraints`:
/// what they say of the translation is at the end of the line, so such a line is read as a whole.
class TextInput {
 public:
  static constexpr size_t longest_chunk = size_t{1} << 20;  // bytes

  /// The arguments must outlive it.
  TextInput(LineReader& lines, const TranslateOptions& options) : lines_(lines), options_(options) {}

  /// The next line or chunk of a line; false at the end. `more`: another chunk of the line follows. Error for a line
  /// that must be read as a whole and exceeds LineReader::longest_line bytes.
  bool next(std::string& text, bool& more);
  /// Whether next() returns without blocking.
  bool ready() { return lines_.ready(options_.has_fields() ? LineReader::longest_line : longest_chunk); }

  /// The chunks of the next line; none at the end. Error if the line exceeds LineReader::longest_line bytes.
  std::vector<std::string> next_line();
  /// Whether next_line() returns without blocking.
  bool line_ready() { return lines_.ready(); }

 private:
  LineReader& lines_;
  const TranslateOptions& options_;
};

}  // namespace dragoman
