#include "vocab/sentence_ends.h"

#include <algorithm>

namespace dragoman {
namespace {

constexpr std::string_view closing[] = {"\"", "'", ")", "]", "}", "”", "’", "»", "›", "」", "』", "）"};

std::string_view without_closing(std::string_view text) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view mark : closing)
      if (text.ends_with(mark)) text.remove_suffix(mark.size()), found = true;
  }
  return text;
}

}  // namespace

std::vector<int32_t> sentence_ends(const Vocabulary& vocabulary, const std::vector<std::string>& marks) {
  const auto ends_one = [&](std::string_view piece) {
    return std::ranges::any_of(marks, [&](const std::string& mark) {
      return piece.ends_with(mark) || without_closing(piece).ends_with(mark);
    });
  };
  std::vector<int32_t> ends;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const bool special = vocabulary.is_special(id);
    if (!special && !vocabulary.is_byte(id) && ends_one(vocabulary.piece(id))) ends.push_back(id);
  }
  return ends;
}

}  // namespace dragoman
