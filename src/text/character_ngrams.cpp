#include "text/character_ngrams.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <string>
#include <vector>

#include "text/characters.h"

namespace dragoman {
namespace {

// A word in UTF-8 with the offsets of its characters, and its end.
struct Word {
  std::string text = "_";
  std::vector<size_t> begins = {0};

  void add(int32_t character) {
    begins.push_back(text.size());
    char bytes[U8_MAX_LENGTH];
    size_t length = 0;
    U8_APPEND_UNSAFE(bytes, length, character);
    text.append(bytes, length);
  }
};

bool is_of_word(int32_t character) {
  constexpr uint32_t kinds = U_GC_L_MASK | U_GC_M_MASK;
  return character >= 0 && (U_GET_GC_MASK(character) & kinds) != 0;
}

void ngrams_of(Word& word, const std::function<void(int, std::string_view)>& f) {
  word.add('_');
  word.begins.push_back(word.text.size());
  const size_t characters = word.begins.size() - 1;
  for (size_t from = 0; from < characters; ++from)
    for (size_t order = 1; order <= longest_ngram && from + order <= characters; ++order) {
      const size_t begin = word.begins[from], end = word.begins[from + order];
      const bool is_edge = order == 1 && (from == 0 || from + 1 == characters);
      if (!is_edge) f(int(order), std::string_view(word.text).substr(begin, end - begin));
    }
}

}  // namespace

void for_each_ngram(std::string_view text, const std::function<void(int order, std::string_view ngram)>& f) {
  Word word;
  for (size_t at = 0; at <= text.size();) {
    const int32_t character = at < text.size() ? character_at(text, at) : (++at, -1);
    if (is_of_word(character)) {
      word.add(u_tolower(character));
    } else if (word.begins.size() > 1) {
      ngrams_of(word, f);
      word = {};
    }
  }
}

}  // namespace dragoman
