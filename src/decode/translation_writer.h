#pragma once
#include <vector>

#include "base/line_writer.h"
#include "decode/translation.h"

namespace dragoman {

/// Translations as lines of a file: plain text, with log-probabilities, or n-best lists in Marian's format
/// (`line ||| text ||| F0= a F1= b ||| score`). A line that comes in parts is written part by part where it is plain
/// text, so its length costs no memory; scores are known at its end only.
class TranslationWriter {
 public:
  /// All outlive the writer.
  TranslationWriter(LineWriter& out, const TranslateOptions& options, const SearchOptions& search)
      : out_(out), options_(options), search_(search) {}

  /// The n best of the next line or of a part of it, at least one; `more`: another part follows.
  void write(std::vector<Translation> best, bool more);
  void flush() { out_.flush(); }
  int64_t lines() const { return lines_; }  // that are whole

 private:
  bool plain() const {
    return search_.n_best == 0 && !options_.scores && !options_.word_scores &&
           options_.alignment.kind == AlignmentStyle::none;
  }
  void write_text(const std::string& text, bool more);
  void write_scored(std::vector<Translation> best, bool more);
  std::string text_line(const Translation& t) const;
  std::string alignment(const Translation& t) const;
  std::string n_best_line(const Translation& t) const;

  LineWriter& out_;
  const TranslateOptions& options_;
  const SearchOptions& search_;
  int64_t lines_ = 0;
  bool begun_ = false;             // some text of the present line is out
  std::vector<Translation> line_;  // so far
};

}  // namespace dragoman
