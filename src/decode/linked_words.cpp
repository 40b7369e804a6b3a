#include "decode/linked_words.h"

#include "text/word_links.h"

namespace dragoman {

std::vector<LinkedWords> linked_words(const std::string& source, const Translation& translation) {
  const auto words = words_of(translation.text);
  std::vector<LinkedWords> all;
  for (const WordLink& link : word_links(source, {translation.text, translation.links}, words))
    if (!link.second_choice)
      all.push_back({link.source.begin, link.source.end, words[link.begin].begin, words[link.end - 1].end});
  return all;
}

}  // namespace dragoman
