#pragma once
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "text/word_links.h"

namespace dragoman {

/// Translations that change nothing, or the order of words alone, with a link for each word.

inline TranslatedSentence word_for_word(const std::string& sentence) {
  TranslatedSentence same{sentence};
  for (const ByteRange& word : words_of(sentence)) same.links.push_back({word, word});
  return same;
}

inline TranslatedSentence words_reversed(const std::string& sentence) {
  TranslatedSentence reversed;
  auto words = words_of(sentence);
  std::ranges::reverse(words);
  for (const ByteRange& word : words) {
    if (!reversed.text.empty()) reversed.text += ' ';
    const size_t begin = reversed.text.size();
    reversed.text += sentence.substr(word.begin, word.size());
    reversed.links.push_back({word, {begin, reversed.text.size()}});
  }
  return reversed;
}

}  // namespace dragoman
