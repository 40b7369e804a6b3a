#pragma once
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "base/line_writer.h"
#include "decode/beam_search.h"
#include "io/model_file.h"

namespace dragoman {

struct Translation {
  std::string text;  // never holds a line break
  double log_prob = 0, score = 0;
};

/// Text to text, a line for a line, whatever a line holds: one without pieces (empty, blanks only) has the empty
/// translation, one longer than `max_length` pieces is translated in parts. What becomes of a line depends on nothing
/// but the line.
class Translator {
 public:
  /// The context (float32, no tape), the model and the vocabularies outlive the translator. With weights packed in the
  /// context decoding is faster.
  Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
             const SearchOptions& search);

  /// The best translation of each line.
  std::vector<std::string> translate(std::span<const std::string> lines);

  /// All lines of a file or pipe, in its order; returns their number. Holds at most `maxi_batch_lines` lines. Reads
  /// ahead what is there, never waits for more while a line is unfinished, and flushes a translation as soon as all
  /// before it are out: fit for talking to through two pipes.
  int64_t translate(LineReader& in, LineWriter& out);

  /// Where lines come from and translations go, in the same order.
  struct Flow {
    std::function<bool()> ready;                                 // next() would not wait
    std::function<bool(std::string&)> next;                      // false at the end
    std::function<void(const std::vector<Translation>&)> write;  // n best of the next line, at least one
    std::function<void()> flush;
  };
  void run(const Flow& flow);

 private:
  struct Line {
    size_t unfinished;                           // parts
    std::vector<std::vector<Hypothesis>> parts;  // what was found for each
  };

  void read(const Flow& flow);
  void take(std::string line);
  std::vector<std::vector<int32_t>> parts_of(std::string line);
  void write_finished(const Flow& flow);
  std::vector<Translation> best(const Line& line) const;
  Translation joined(const Line& line, size_t rank) const;

  const Vocabularies& vocabularies_;
  const TranslateOptions options_;
  const SearchOptions search_options_;
  const int longest_part_;  // pieces
  Search search_;
  std::deque<Line> lines_;  // read and not yet written
  int64_t lines_read_ = 0;  // in this run
  bool warned_ = false;     // of a long line
};

}  // namespace dragoman
