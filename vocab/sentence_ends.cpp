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

bool ends_with_one(std::string_view piece, const std::vector<std::string>& marks) {
  return std::ranges::any_of(
      marks, [&](const std::string& mark) { return piece.ends_with(mark) || without_closing(piece).ends_with(mark); });
}

}  // namespace

std::vector<int32_t> sentence_ends(const Vocabulary& vocabulary, const std::vector<std::string>& marks) {
  std::vector<int32_t> ends;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const bool special = vocabulary.is_special(id);
    if (!special && !vocabulary.is_byte(id) && ends_with_one(vocabulary.piece(id), marks)) ends.push_back(id);
  }
  return ends;
}

std::vector<std::string> sentence_marks(const Vocabulary& vocabulary, const std::vector<int32_t>& ends) {
  std::vector<std::string> pieces, marks;
  for (const int32_t id : ends) pieces.emplace_back(vocabulary.piece(id));
  std::ranges::stable_sort(pieces, {}, &std::string::size);
  for (const std::string& piece : pieces)
    if (!ends_with_one(piece, marks)) marks.push_back(piece);
  return marks;
}

}  // namespace dragoman
