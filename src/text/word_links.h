#pragma once
#include <string_view>
#include <vector>

#include "text/translated_sentence.h"

namespace dragoman {

/// The words and punctuation of a text, without blanks, by the rules of Unicode (UAX 29) and, for Chinese,
/// Japanese and Thai, ICU's dictionaries.
std::vector<ByteRange> words_of(std::string_view text);

/// A link to words [begin, end) of a translation.
struct WordLink {
  ByteRange source;
  size_t begin, end;
  bool second_choice = false;  // as in Link
};

/// Maps links to the words (words_of) of the translation that they touch; links that touch none, and those from blanks,
/// are dropped. A link between equal numbers of words, "world!" and "Welt!", becomes one for each.
std::vector<WordLink> word_links(std::string_view sentence, const std::vector<ByteRange>& source_words,
                                 const TranslatedSentence& translation, const std::vector<ByteRange>& target_words);

}  // namespace dragoman
