#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_range.h"
#include "text/inline_markup.h"
#include "text/sentence_breaker.h"

namespace dragoman {

/// A sentence of a page.
struct HtmlSentence {
  ByteRange bytes;   // of the page, with the tags that belong to it
  std::string text;  // one line; runs of white space are one blank
  InlineMarkup markup;
};

/// The text and inline tags between two blocks of a page, and their sentences. The pieces of the page are added in
/// order.
class HtmlRun {
 public:
  explicit HtmlRun(std::string_view page) : page_(page) {}

  void add_text(std::string_view text);
  void add_start_tag(std::string_view tag, const std::string& element);
  void add_end_tag(std::string_view tag, const std::string& element);
  void add_alone(std::string_view bytes, bool joins);  // `joins`: continues what was added alone just before

  /// Adds the sentences to `all` and empties the run.
  void finish(SentenceBreaker& breaker, std::vector<HtmlSentence>& all);

 private:
  struct Span {
    ByteRange text, page;  // of equal length, unless the text is one reference
  };
  struct Reference {
    ByteRange text;
    std::string_view written;
  };
  /// A marker, before the run is split into sentences.
  struct Found {
    ByteRange page;
    size_t at;  // in the text of the run
    bool opens = false, closes = false;
    bool is_lone = false;    // inside an element, without its counterpart there
    bool is_joined = false;  // what is added next may continue it
    bool blank_before = false, blank_after = false, after_previous = false;
    size_t partner = none;
  };
  static constexpr size_t none = SIZE_MAX;

  size_t offset(std::string_view part) const { return size_t(part.data() - page_.data()); }
  void add_blank();
  void add_characters(std::string_view characters, std::string_view written);
  void resolve_markers();
  Found& add_marker(std::string_view bytes);
  size_t page_begin(size_t text_begin) const;
  size_t page_end(size_t text_end) const;
  ByteRange markers_of(ByteRange sentence, size_t next_sentence, size_t first) const;
  HtmlSentence cut_out(ByteRange sentence, ByteRange markers) const;
  Marker marker(size_t index, ByteRange sentence, ByteRange markers) const;
  std::vector<WrittenReference> references_in(ByteRange sentence) const;

  std::string_view page_;
  std::string text_;
  bool blank_ = false;  // white space since the last text
  std::vector<Span> spans_;
  std::vector<Reference> references_;
  std::vector<Found> markers_;
  size_t resolved_ = 0;       // markers before the last text
  std::vector<size_t> open_;  // start tags without their end tags yet
  std::unordered_map<std::string, std::vector<size_t>> open_by_name_;
  std::vector<std::string> names_;  // of open_
};

}  // namespace dragoman
