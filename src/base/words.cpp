#include "base/words.h"

#include <algorithm>

namespace dragoman {

char lower_ascii(char letter) { return letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter; }

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_ascii(c);
  return lower;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(blanks) + 1));
  return text;
}

std::vector<std::string_view> split_at_blanks(std::string_view text, std::string_view blanks) {
  std::vector<std::string_view> words;
  for (size_t from = 0; (from = text.find_first_not_of(blanks, from)) != text.npos;) {
    const size_t to = std::min(text.find_first_of(blanks, from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to;
  }
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + separator.size()))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

bool has_word(std::string_view words, std::string_view word, std::string_view blanks) {
  const auto is_blank = [&](size_t at) { return blanks.find(words[at]) != blanks.npos; };
  for (size_t at = words.find(word); at < words.size() && !word.empty(); at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || is_blank(at - 1)) && (end == words.size() || is_blank(end))) return true;
  }
  return false;
}

}  // namespace dragoman
