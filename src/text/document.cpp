#include "text/document.h"

#include <algorithm>

#include "base/error.h"
#include "text/characters.h"
#include "text/html_sentences.h"
#include "text/html_writer.h"
#include "text/sentence_breaker.h"

namespace dragoman {

Document::Document(std::string text, DocumentFormat format, std::string_view language)
    : text_(std::move(text)), format_(format) {
  require(text_.size() < size_t(INT32_MAX), "the text has {} bytes, expected less than 2 GiB", text_.size());
  if (format == DocumentFormat::html)
    find_elements(language);
  else
    find_lines(language);
}

void Document::find_lines(std::string_view language) {
  SentenceBreaker breaker(language);
  for (size_t begin = 0; begin < text_.size();) {
    const size_t end = std::min(text_.find_first_of("\n\r", begin), text_.size());
    const std::string_view line = std::string_view(text_).substr(begin, end - begin);
    for (const ByteRange& sentence : breaker.sentences(line)) {
      ranges_.push_back({begin + sentence.begin, begin + sentence.end});
      sentences_.emplace_back(line.substr(sentence.begin, sentence.size()));
    }
    begin = end + 1;
  }
}

void Document::find_elements(std::string_view language) {
  for (HtmlSentence& sentence : html_sentences(text_, language)) {
    ranges_.push_back(sentence.bytes);
    sentences_.push_back(std::move(sentence.text));
    markup_.push_back(std::move(sentence.markup));
  }
}

bool Document::needs_links(size_t sentence) const {
  return format_ == DocumentFormat::html && dragoman::needs_links(sentences_.at(sentence), markup_[sentence]);
}

bool Document::lacks_blank(size_t sentence, std::span<const TranslatedSentence> translations) const {
  if (sentence == 0 || ranges_[sentence - 1].end < ranges_[sentence].begin) return false;
  const int32_t last = last_character(translations[sentence - 1].text);
  return last != last_character(sentences_[sentence - 1]) && !is_blank(last) && !is_east_asian(last);
}

std::string Document::assemble(std::span<const TranslatedSentence> translations) const {
  require(translations.size() == sentences_.size(), "there are {} translations of {} sentences", translations.size(),
          sentences_.size());
  std::string assembled;
  for (size_t i = 0; i < translations.size(); ++i) assembled += assemble(i, translations);
  return assembled.append(text_, ranges_.empty() ? 0 : ranges_.back().end);
}

std::string Document::assemble(size_t i, std::span<const TranslatedSentence> translations) const {
  const size_t at = i == 0 ? 0 : ranges_[i - 1].end;
  std::string assembled = text_.substr(at, ranges_[i].begin - at);
  if (lacks_blank(i, translations)) assembled += ' ';
  return assembled +=
         format_ == DocumentFormat::html ? to_html(translations[i], sentences_[i], markup_[i]) : translations[i].text;
}

}  // namespace dragoman
