#pragma once
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "base/line_writer.h"
#include "decode/searches.h"
#include "decode/translation.h"
#include "io/model_file.h"

namespace dragoman {

/// Text to text, a line for a line, whatever a line holds: one without pieces (empty, blanks only) has the empty
/// translation, one longer than `max_length` pieces is translated in parts. What becomes of a line depends on nothing
/// but the line; of a sampled one, on its number too.
class Translator {
 public:
  /// Contexts, models, vocabularies and the shortlist, which there need not be, outlive the translator; the
  /// vocabularies are those of all models. More searches than one (searches.h) are faster where there are threads for
  /// them.
  Translator(std::span<const TranslatingModel> models, const Vocabularies& vocabularies,
             const TranslateOptions& options, const SearchOptions& search, const Shortlist* shortlist = nullptr,
             int searches = 1);
  Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
             const SearchOptions& search, int searches = 1);

  /// The best translation of each line.
  std::vector<std::string> translate(std::span<const std::string> lines);

  /// All lines of a file or pipe, in its order; returns their number. Holds at most `maxi_batch_lines` lines, and of a
  /// line longer than a mebibyte a part at a time. Reads ahead what is there, never waits for more while a line is
  /// unfinished, and flushes a translation as soon as all before it are out: fit for talking to through two pipes.
  /// `written` hears how many lines are out.
  int64_t translate(LineReader& in, LineWriter& out, const std::function<void(int64_t lines)>& written = {});

  /// Where lines come from and translations go, in the same order. A long line may come in parts: it goes on while
  /// `more` is true, on both sides.
  struct Flow {
    std::function<bool()> ready;                                          // next() would not wait
    std::function<bool(std::string& text, bool& more)> next;              // false at the end
    std::function<void(std::vector<Translation> best, bool more)> write;  // n best of the next part, at least one
    std::function<void()> flush;
  };
  void run(const Flow& flow);

  /// Lines so far with sentences longer than any that a model was trained on.
  int64_t beyond_training() const { return beyond_training_; }

 private:
  struct Text {  // a line, or a part of one
    bool more;
    size_t unfinished;                           // sentences
    std::vector<std::vector<Hypothesis>> found;  // for each
    std::vector<std::vector<int32_t>> sources;   // of each, if translations are to be aligned
  };

  void read(const Flow& flow);
  void take(std::string text, bool more);
  std::vector<Sentence> sentences_of(std::string text);
  std::vector<int32_t> encode(const Vocabulary& vocabulary, std::string_view text) const;
  void warn_of_length(size_t pieces);
  void warn_of_segments(size_t pieces);
  void write_finished(const Flow& flow);
  std::vector<Translation> best(Text text);
  std::vector<Alignment> align(const std::vector<int32_t>& source, std::span<const Hypothesis> hypotheses);

  const Vocabularies& vocabularies_;
  const TranslateOptions options_;
  const SearchOptions search_options_;
  const size_t models_;
  const TranslatingModel first_;  // which aligns
  const int longest_segment_;     // pieces
  Searches searches_;
  std::deque<Text> texts_;        // read and not yet written
  uint64_t line_ = 0, part_ = 0;  // of the next text in this run
  const int longest_source_;      // that all models were trained on; 0: not known
  int64_t beyond_training_ = 0;   // lines with longer sentences
  bool warned_ = false;           // of a line in parts
};

}  // namespace dragoman
