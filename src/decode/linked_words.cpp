#include "decode/linked_words.h"

#include <algorithm>

#include "text/word_links.h"

namespace dragoman {

std::vector<LinkedWords> linked_words(const std::string& source, const Translation& translation) {
  const auto source_words = words_of(source), words = words_of(translation.text);
  std::vector<LinkedWords> all;
  for (const WordLink& link : word_links(source, source_words, {translation.text, translation.links}, words)) {
    if (link.second_choice) continue;
    // A link may begin or end inside a word, where pieces do.
    const auto first = std::ranges::find_if(source_words, [&](ByteRange w) { return w.end > link.source.begin; });
    auto last = first;
    while (last != source_words.end() && last->begin < link.source.end) ++last;
    if (first == last) continue;
    const LinkedWords linked{first->begin, std::prev(last)->end, words[link.begin].begin, words[link.end - 1].end};
    if (std::ranges::find(all, linked) == all.end()) all.push_back(linked);  // from another piece of the same word
  }
  return all;
}

}  // namespace dragoman
