#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/line_writer.h"
#include "decode/translation.h"

namespace dragoman {

/// Writes translations as lines: plain text, with log-probabilities, or n-best lists in Marian's format
/// (`line ||| text ||| F0= a F1= b ||| score`). Plain text is written chunk by chunk, so memory does not grow with the
/// length of a line; with scores, a line is kept until its end, because its scores are known only then.
class TranslationWriter {
 public:
  /// All arguments must outlive the writer.
  TranslationWriter(LineWriter& out, const TranslateOptions& options, const SearchOptions& search,
                    int64_t first_line = 0)
      : out_(out), options_(options), search_(search), lines_(first_line) {}

  /// The n best of the next line or chunk of a line, at least one; `more`: another chunk of the line follows.
  void write(std::vector<Translation> best, bool more);
  void flush() { out_.flush(); }
  int64_t lines() const { return lines_; }  // complete lines, plus those before the first

 private:
  bool plain() const {
    return search_.n_best == 0 && !options_.scores && !options_.word_scores &&
           options_.alignment.kind == AlignmentStyle::none;
  }
  void write_text(const std::string& text, bool more);
  void write_scored(std::vector<Translation> best, bool more);
  void write_line(const Translation& t);
  std::optional<std::string> alignment(const Translation& t) const;
  std::string n_best_line(const Translation& t) const;

  LineWriter& out_;
  const TranslateOptions& options_;
  const SearchOptions& search_;
  int64_t lines_;
  bool begun_ = false;             // some text of the current line is written
  std::vector<Translation> line_;  // so far
};

}  // namespace dragoman
