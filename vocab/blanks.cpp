#include "vocab/blanks.h"

#include <algorithm>

namespace dragoman {

std::vector<std::string_view> split_at_blanks(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t from = 0; (from = line.find_first_not_of(' ', from)) != line.npos;) {
    const size_t to = std::min(line.find(' ', from), line.size());
    words.push_back(line.substr(from, to - from));
    from = to;
  }
  return words;
}

}  // namespace dragoman
