#include "text/sentence_breaker.h"

#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>

#include "base/words.h"
#include "text/abbreviations.h"
#include "text/characters.h"
#include "text/icu_status.h"

namespace dragoman {
namespace {

constexpr size_t longest_abbreviation = 32;  // bytes; a longer word is not an abbreviation

icu::Locale locale_of(std::string_view language) {
  UErrorCode status = U_ZERO_ERROR;
  auto locale = icu::Locale::forLanguageTag({language.data(), int32_t(std::min<size_t>(language.size(), 100))}, status);
  return U_SUCCESS(status) ? locale : icu::Locale::getRoot();
}

bool is_letter(int32_t character) { return character >= 0 && u_isalpha(character); }

bool opens_word(int32_t character) {
  if (character == '"' || character == '\'') return true;
  return character >= 0 && (U_GET_GC_MASK(character) & (U_GC_PS_MASK | U_GC_PI_MASK | U_GC_PF_MASK)) != 0;
}

// The word that ends at the end of the text, without brackets and quotes before it.
std::string_view last_word(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < longest_abbreviation) {
    size_t before = begin;
    const int32_t character = character_before(text, before);
    if (is_blank(character) || opens_word(character)) break;
    begin = before;
  }
  return text.substr(begin);
}

// "J", "z", "U.S": one letter, or capitals with full stops between.
bool is_initials(std::string_view word) {
  size_t at = 0;
  const int32_t first = character_at(word, at);
  if (!is_letter(first) || at == word.size()) return is_letter(first);
  for (bool letter = false; at < word.size(); letter = !letter) {
    const int32_t character = character_at(word, at);
    if (letter ? !(is_letter(character) && u_isupper(character)) : character != '.') return false;
    if (letter && at == word.size()) return u_isupper(first);
  }
  return false;
}

bool is_ordinal(std::string_view word) { return word.size() <= 2 && std::ranges::all_of(word, is_digit); }

// Whether the full stop after the word belongs to it.
bool is_abbreviation(std::string_view word, int32_t next, const Abbreviations& known) {
  if (word.empty()) return false;
  const bool number_follows = is_digit(char32_t(next));
  return is_initials(word) || has_word(known.words, word) || (number_follows && has_word(known.before_numbers, word)) ||
         (known.ordinals && is_letter(next) && is_ordinal(word));
}

// Whether a sentence may end between the two, which have no blanks where they meet.
bool is_break(std::string_view before, std::string_view after, bool blank_between, const Abbreviations& known) {
  const int32_t last = last_character(before);
  const int32_t next = first_character(after);
  if (!blank_between) return is_east_asian(last) || (last != '.' && is_east_asian(next));
  if (next >= 0 && u_islower(next)) return false;  // "Why?" she asked.
  if (last != '.') return true;
  return !is_abbreviation(last_word(before.substr(0, before.size() - 1)), next, known);
}

// "« Bien. » Il part.": the rules of Unicode break before the quotation mark, which a blank precedes in French.
void move_closing_quote(std::string_view text, ByteRange& last, ByteRange& next) {
  constexpr std::string_view quote = "»";
  const std::string_view after = text.substr(next.begin, next.size());
  if (!after.starts_with(quote)) return;
  if (after.size() > quote.size() && !is_blank(first_character(after.substr(quote.size())))) return;
  last.end = next.begin + quote.size();
  next = without_blanks(text, {last.end, next.end});
}

// Adds the range that ICU considers the next sentence, either as a new sentence or to the last one.
void add_sentence(std::vector<ByteRange>& sentences, ByteRange next, std::string_view text,
                  const Abbreviations& known) {
  if (!sentences.empty()) {
    ByteRange& last = sentences.back();
    move_closing_quote(text, last, next);
    const auto before = text.substr(last.begin, last.size()), after = text.substr(next.begin, next.size());
    if (!is_break(before, after, last.end < next.begin, known)) {
      last.end = next.end;
      return;
    }
  }
  if (next.size() > 0) sentences.push_back(next);
}

// Kept from the thread's last breaker, since reading the rules takes longer than splitting a line.
const icu::BreakIterator& rules_of(std::string_view language) {
  thread_local std::string kept_language;
  thread_local std::unique_ptr<icu::BreakIterator> kept;
  if (kept && kept_language == language) return *kept;
  UErrorCode status = U_ZERO_ERROR;
  kept.reset(icu::BreakIterator::createSentenceInstance(locale_of(language), status));
  require_icu(status, "split text into sentences");
  kept_language = language;
  return *kept;
}

}  // namespace

struct SentenceBreaker::Rules {
  std::unique_ptr<icu::BreakIterator> breaks;
  const Abbreviations& abbreviations;
};

SentenceBreaker::SentenceBreaker(std::string_view language)
    : rules_(new Rules{std::unique_ptr<icu::BreakIterator>(rules_of(language).clone()),
                       abbreviations_of(language.substr(0, language.find_first_of("-_")))}) {}

SentenceBreaker::~SentenceBreaker() = default;

std::vector<ByteRange> SentenceBreaker::sentences(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  icu::LocalUTextPointer utf8(utext_openUTF8(nullptr, text.data(), int64_t(text.size()), &status));
  if (U_SUCCESS(status)) rules_->breaks->setText(utf8.getAlias(), status);
  require_icu(status, "split text into sentences");
  std::vector<ByteRange> sentences;
  size_t begin = 0;
  for (int32_t end = rules_->breaks->next(); end != icu::BreakIterator::DONE; end = rules_->breaks->next()) {
    const ByteRange next = without_blanks(text, {begin, size_t(end)});
    begin = size_t(end);
    if (next.size() > 0) add_sentence(sentences, next, text, rules_->abbreviations);
  }
  return sentences;
}

}  // namespace dragoman
