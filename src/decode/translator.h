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

/// Translates text line by line. A line without pieces (empty or only white space) has the empty translation; one
/// longer than `max_length` pieces is translated in segments. Lines are translated independently; sampling also depends
/// on the line number.
class Translator {
 public:
  /// Contexts, models, vocabularies and the optional shortlist must outlive the translator; all models share the
  /// vocabularies. Several searches (searches.h) are faster if there are threads for them.
  Translator(std::span<const TranslatingModel> models, const Vocabularies& vocabularies,
             const TranslateOptions& options, const SearchOptions& search, const Shortlist* shortlist = nullptr,
             int searches = 1);
  Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
             const SearchOptions& search, int searches = 1);

  /// The best translation of each line.
  std::vector<std::string> translate(std::span<const std::string> lines);

  /// Translates all lines of a file or pipe in order; returns their number. Holds at most `maxi_batch_lines` lines;
  /// lines longer than a mebibyte are processed in chunks. Reads ahead available input, never waits for more while a
  /// line is unfinished, and flushes a translation once all before it are written, so it works interactively over two
  /// pipes. `written` receives the number of lines written so far.
  int64_t translate(LineReader& in, LineWriter& out, const std::function<void(int64_t lines)>& written = {});

  /// Source of lines and sink of translations, in the same order. A long line may come in chunks: on both sides, `more`
  /// says that another chunk of it follows.
  struct Flow {
    std::function<bool()> ready;                                          // next() would not block
    std::function<bool(std::string& text, bool& more)> next;              // false at the end
    std::function<void(std::vector<Translation> best, bool more)> write;  // at least one, best first
    std::function<void()> flush;
  };
  void run(const Flow& flow);

  /// Number of lines so far that are longer than any training sentence of a model.
  int64_t beyond_training() const { return beyond_training_; }

 private:
  struct Text {  // a line or a chunk of one
    bool more;
    size_t unfinished;                           // sentences
    std::vector<std::vector<Hypothesis>> found;  // for each
    std::vector<std::vector<int32_t>> sources;   // of each, if alignments are requested
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
  const TranslatingModel first_;  // computes alignments
  const int longest_segment_;     // pieces
  Searches searches_;
  std::deque<Text> texts_;        // read and not yet written
  uint64_t line_ = 0, part_ = 0;  // of the next text in this run
  const int longest_source_;      // that all models were trained on; 0: unknown
  int64_t beyond_training_ = 0;   // lines with longer sentences
  bool warned_ = false;           // of a line split into segments
};

}  // namespace dragoman
