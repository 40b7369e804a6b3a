#pragma once
#include <array>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "align/alignment.h"
#include "base/line_reader.h"
#include "base/line_writer.h"
#include "data/unknown_tokens.h"
#include "decode/searches.h"
#include "decode/translation.h"
#include "decode/word_constraints.h"
#include "io/model_file.h"

namespace dragoman {

/// Error unless translations with these options can contain phrases.
void require_search(const SearchOptions& options);

/// A text to translate with its own options.
struct TextRequest {
  std::string text;  // one line
  SearchOptions search = {};
  std::string prefix = "";                // forced prefix of the translation
  std::vector<std::string> phrases = {};  // that the translation must contain, in addition to those of glossaries
  std::shared_ptr<const Glossary> glossary = {};       // takes precedence over the translator's, which also applies
  std::shared_ptr<const ForbiddenPhrases> avoid = {};  // in addition to the translator's; null: none
  std::shared_ptr<const SentenceFrames> frames = {};   // of the request's languages; null: those of the models. A text
                                                       // that names its language keeps the models' own
  std::string tags = "";  // a text that may begin with tags, which `text` then has too, unless it has its own
  Wanted wanted = Wanted::log_probs;
  bool alignment = false;        // compute the alignment of source and target tokens, also as links
  Constraints constraints = {};  // for each segment of a long text
  uint64_t line = 0;             // key of random draws, like the number of a line
  std::function<void(const std::string& text)> partial = {};  // receives the growing beginning of the translation
};

/// Translates text line by line. The translation of a line without pieces (empty or only white space) is empty. A line
/// longer than `max_length` pieces is translated in segments, all of them with the tags with which it begins. Lines are
/// translated independently; sampling also depends on the line number.
class Translator {
 public:
  using Ticket = uint64_t;
  using Done = std::function<void(std::vector<Translation> best)>;  // n best, at least one
  using Failed = std::function<void(std::exception_ptr error)>;

  /// Contexts, models, vocabularies and word constraints must outlive the translator; all models share the
  /// vocabularies. Several searches (searches.h) are faster if there are threads for them.
  Translator(std::span<const TranslatingModel> models, const Vocabularies& vocabularies,
             const TranslateOptions& options, const SearchOptions& search, WordConstraints words = {},
             int searches = 1);
  Translator(Context& cx, Model& model, const Vocabularies& vocabularies, const TranslateOptions& options,
             const SearchOptions& search, int searches = 1);

  /// The best translation of each line.
  std::vector<std::string> translate(std::span<const std::string> lines);

  /// Translates all lines of a file or pipe in order; returns their number. Holds at most `maxi_batch_lines` lines;
  /// lines longer than a mebibyte are processed in chunks. Reads ahead available input, never waits for more while a
  /// line is unfinished, and flushes a translation once all before it are written, on a device some steps later if
  /// others are being translated, so it works interactively over two pipes. `written` receives the number of lines
  /// written so far.
  int64_t translate(LineReader& in, LineWriter& out, const std::function<void(int64_t lines)>& written = {});

  /// Input of lines and output of translations, in the same order. A long line may come in chunks: on both sides,
  /// `more` means that another chunk of the line follows.
  struct Flow {
    std::function<bool()> ready;                                          // next() would not block
    std::function<bool(std::string& text, bool& more)> next;              // false at the end
    std::function<void(std::vector<Translation> best, bool more)> write;  // at least one, best first
    std::function<void()> flush;
    uint64_t first_line = 0;  // number of the first line, the key of random draws
  };
  void run(const Flow& flow);

  /// Queues a text with its own options. A step() calls `done`, or `failed` if there is no memory for it; other
  /// requests are not affected. Error for invalid options; if it throws, nothing has changed. The translation depends
  /// only on the request. Phrases count for the first segment of a long text. `request.partial` may be called in one of
  /// the engine's threads, but only during a step().
  Ticket submit(TextRequest request, Done done, Failed failed);
  /// Cancels a text: none of its functions is called afterwards. False if it is already done.
  bool cancel(Ticket ticket);
  /// Whether no request is unfinished.
  bool idle() const { return requests_.empty(); }
  /// Whether another request would begin soon: the unfinished requests fill less than one search.
  bool has_room() { return searches_.next().has_room(); }
  /// Whether so few requests wait that more of them would improve throughput.
  bool wants_more() { return searches_.wants_more(); }
  /// Extends all translations by one or more tokens, as Searches does, and aligns some of those that have ended.
  /// Answers the requests that are done.
  void step(int most = Searches::steps_at_once);

  /// Number of lines so far that are longer than any training sentence of a model.
  int64_t beyond_training() const { return beyond_training_; }
  /// Number of lines so far whose translations lack a required phrase.
  int64_t lacking() const { return lacking_; }
  /// The first line so far, counted from 0, that does not begin with the language to translate into though it should.
  std::optional<uint64_t> without_language() const { return without_language_; }
  /// Source tokens of the lines so far.
  const UnknownTokens& unknown() const { return unknown_; }

 private:
  struct Aligned {  // a hypothesis
    LineAlignment alignment;
    std::vector<Link> links;  // of a request
  };
  struct Text {  // a line, a segment of one, or a request
    bool more = false;
    uint64_t line = 0;
    Search::Options search;
    Wanted wanted;
    AlignmentStyle alignment;
    size_t source_frame = 0;                     // special tokens before each source
    size_t unfinished = 0;                       // sentences
    std::vector<std::vector<Hypothesis>> found;  // for each
    std::vector<std::vector<int32_t>> sources;   // of each, if alignments are requested
    std::vector<size_t> repeated;                // Sentence::repeated of each, likewise
    std::vector<ByteRange> ranges;               // of all source tokens in a request's text, likewise
    std::vector<std::vector<Aligned>> aligned;   // the hypotheses of each sentence that are aligned so far, likewise
    std::vector<Phrases> phrases;                // of each sentence, if one has any
    bool lacks = false;                          // a required phrase
    std::exception_ptr error;                    // if a sentence has failed
    Search* on = nullptr;                        // the search of its sentences
    std::vector<Search::Ticket> tickets;
    std::function<void(const std::string&)> partial;  // null: not requested
    size_t leading = 0;                               // finished sentences at the beginning, of which
    std::string beginning;                            // this is the translation
    std::string reported;                             // the beginning that `partial` last received
  };
  struct Pending {
    Text text;
    Done done;
    Failed failed;
  };

  struct Chunk {  // a line of the input, or a part of a long one
    std::string text;
    bool more = false;
    std::vector<int32_t> source = {}, prefix = {};  // pieces
    Phrases phrases = {};
    std::vector<Glossary::Found> terms = {};
  };

  struct Room {         // for the tokens of a source
    int pieces;         // --max-length
    int64_t positions;  // with the special tokens around it
  };
  static Room room_of(const TranslateOptions& options, std::span<const TranslatingModel> models);

  class Lines;

  int longest_segment(const SentenceFrames& frames) const;  // pieces
  void encode_chunk(Chunk& chunk) const;
  void take(Chunk chunk);
  void start(Text& text, std::vector<Sentence> sentences);
  Search::Partial report_beginning(Text& text, size_t sentence) const;
  std::vector<Sentence> sentences_of(Chunk chunk);
  std::vector<Sentence> segments_of(const std::vector<int32_t>& source, size_t added, std::vector<int32_t> prefix,
                                    Phrases phrases, uint64_t line, uint64_t first_segment,
                                    const std::shared_ptr<const SentenceFrames>& frames) const;
  static constexpr size_t most_pieces_of_terms = 1000;  // in a segment
  std::vector<Glossary::Found> require_terms(std::span<const Glossary::Found> terms, std::string_view text,
                                             std::span<Sentence> sentences) const;
  Phrase phrase(std::string_view text) const;
  std::vector<Glossary::Found> terms_of(const TextRequest& request, size_t tags) const;
  std::vector<Glossary::Found> behind_tags(std::vector<Glossary::Found> terms, std::string_view text,
                                           size_t tags) const;
  size_t begin_with(std::span<const int32_t> tags, std::vector<int32_t>& source) const;
  std::vector<ByteRange> ranges_of(std::string_view text, std::span<const Sentence> sentences) const;
  std::vector<int32_t> ids_of(const Vocabulary& vocabulary, std::string_view text) const;
  std::vector<int32_t> encode(const Vocabulary& vocabulary, std::string_view text) const;
  void warn_of_length(size_t pieces);
  void warn_of_segments(size_t pieces);
  void warn_of_terms(std::span<const Glossary::Found> left_out);
  void warn_of_phrases();
  void warn_of_prefix(const std::vector<int32_t>& prefix);
  void warn_of_unknown_prefix();
  void warn_of_lack(uint64_t line);
  void answer(Pending& request);
  std::vector<Translation> best(Text text) const;
  std::vector<Link> links(const Text& text, size_t sentence, const Hypothesis& hypothesis,
                          const Alignment& alignment) const;
  void take(Text& text, size_t sentence, const Hypothesis& hypothesis, Alignment alignment) const;

  const Vocabularies& vocabularies_;
  const TranslateOptions options_;
  const Search::Options search_options_;  // of lines
  const size_t models_;
  const TranslatingModel first_;
  const std::shared_ptr<const Constraint> shortlist_;    // of every sentence; null: none
  const Glossary* const glossary_;                       // null: none
  const std::shared_ptr<const ForbiddenPhrases> avoid_;  // null: none
  const Room room_;
  const SentenceFrames frames_;  // of the models; empty if they need languages
  const bool takes_language_;    // lines may begin with their target language
  Searches searches_;
  std::deque<Text> texts_;  // read but not yet written
  std::map<Ticket, std::unique_ptr<Pending>> requests_;
  Ticket last_ticket_ = 0;
  uint64_t line_ = 0, segment_ = 0;                              // of the next text in this run
  std::vector<int32_t> tags_;                                    // with which the line of the next text began
  const int longest_source_;                                     // that all models were trained on; 0: unknown
  int64_t beyond_training_ = 0;                                  // lines with longer sentences
  int64_t lacking_ = 0;                                          // lines without all required phrases
  UnknownTokens unknown_;                                        // of the sources of lines
  std::optional<uint64_t> last_beyond_training_, last_lacking_;  // of this run: a line has several chunks
  bool warned_ = false;                                          // of a line split into segments
  std::optional<uint64_t> without_language_;                     // without_language()
  bool warned_of_terms_ = false;                                 // of terms that were left out
  bool warned_of_phrases_ = false;                               // of phrases of a line split into segments
  bool warned_of_prefix_ = false;                                // that contains a phrase to avoid
  bool warned_of_unknown_prefix_ = false;                        // with pieces that the vocabulary lacks
};

}  // namespace dragoman
