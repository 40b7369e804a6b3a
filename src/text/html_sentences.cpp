#include "text/html_sentences.h"

#include "text/html_elements.h"
#include "text/html_scanner.h"

namespace dragoman {
namespace {

using Kind = HtmlToken::Kind;

// Adds the tokens of a page to one run after another.
class Page {
 public:
  Page(std::string_view page, std::string_view language) : scanner_(page), breaker_(language), run_(page) {}

  std::vector<HtmlSentence> sentences() {
    while (const auto token = scanner_.next(elements_.foreign())) take(*token);
    run_.finish(breaker_, sentences_);
    return std::move(sentences_);
  }

 private:
  void take(const HtmlToken& token) {
    switch (token.kind) {
      case Kind::text:
        return elements_.translated() ? run_.add_text(token.bytes) : run_.add_alone(token.bytes, true);
      case Kind::raw_text:
        return run_.add_alone(token.bytes, true);
      case Kind::comment:
        return run_.add_alone(token.bytes, !elements_.translated());
      case Kind::doctype:
        return run_.finish(breaker_, sentences_);
      case Kind::start_tag:
        return start(token);
      case Kind::end_tag:
        return end(token);
    }
  }

  void start(const HtmlToken& tag) {
    const bool breaks_out = elements_.open(tag);
    if (is_block(tag.name) || breaks_out) run_.finish(breaker_, sentences_);
    if (is_block(tag.name)) return;
    if (!elements_.translated()) return run_.add_alone(tag.bytes, true);
    if (is_void(tag.name) || tag.self_closing) return run_.add_alone(tag.bytes, false);
    run_.add_start_tag(tag.bytes, tag.name);
  }

  void end(const HtmlToken& tag) {
    const bool was_translated = elements_.translated();
    elements_.close(tag.name);
    if (is_block(tag.name)) return run_.finish(breaker_, sentences_);
    if (!was_translated) return run_.add_alone(tag.bytes, true);
    run_.add_end_tag(tag.bytes, tag.name);
  }

  HtmlScanner scanner_;
  SentenceBreaker breaker_;
  OpenElements elements_;
  HtmlRun run_;
  std::vector<HtmlSentence> sentences_;
};

}  // namespace

std::vector<HtmlSentence> html_sentences(std::string_view page, std::string_view language) {
  return Page(page, language).sentences();
}

}  // namespace dragoman
