#include "text/word_links.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <memory>

#include "text/characters.h"
#include "text/icu_status.h"

namespace dragoman {
namespace {

struct Words {
  size_t begin, end;
};

// The words that a range touches.
Words touched(const std::vector<ByteRange>& words, ByteRange range) {
  const auto begin = std::ranges::upper_bound(words, range.begin, {}, &ByteRange::end);
  const auto end = std::ranges::lower_bound(words, range.end, {}, &ByteRange::begin);
  return {size_t(begin - words.begin()), size_t(std::max(begin, end) - words.begin())};
}

// Without the blanks at its ends, and with the whole of the characters there.
ByteRange inside(std::string_view text, ByteRange range) {
  const auto splits_character = [&](size_t at) { return at < text.size() && U8_IS_TRAIL(text[at]); };
  size_t begin = std::min(range.begin, text.size()), end = std::clamp(range.end, begin, text.size());
  while (begin > 0 && splits_character(begin)) --begin;
  while (splits_character(end)) ++end;
  return without_blanks(text, {begin, end});
}

}  // namespace

std::vector<ByteRange> words_of(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
  require_icu(status, "split text into words");
  icu::LocalUTextPointer utf8(utext_openUTF8(nullptr, text.data(), int64_t(text.size()), &status));
  if (U_SUCCESS(status)) breaks->setText(utf8.getAlias(), status);
  require_icu(status, "split text into words");
  std::vector<ByteRange> words;
  size_t begin = 0;
  for (int32_t end = breaks->next(); end != icu::BreakIterator::DONE; end = breaks->next()) {
    const ByteRange word = without_blanks(text, {begin, size_t(end)});
    if (word.size() > 0) words.push_back(word);
    begin = size_t(end);
  }
  return words;
}

std::vector<WordLink> word_links(std::string_view sentence, const std::vector<ByteRange>& source_words,
                                 const TranslatedSentence& translation, const std::vector<ByteRange>& target_words) {
  std::vector<WordLink> links;
  for (const Link& link : translation.links) {
    const ByteRange range = inside(sentence, link.source);
    const ByteRange translated = inside(translation.text, link.target);
    if (range.size() == 0 || translated.size() == 0) continue;
    const Words source = touched(source_words, range), target = touched(target_words, translated);
    const size_t count = source.end - source.begin;
    if (count > 1 && count == target.end - target.begin)
      for (size_t i = 0; i < count; ++i)
        links.push_back({source_words[source.begin + i], target.begin + i, target.begin + i + 1, link.second_choice});
    else
      links.push_back({range, target.begin, target.end, link.second_choice});
  }
  return links;
}

}  // namespace dragoman
