#include "decode/split.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"

namespace dragoman {
namespace {

bool starts_word(std::string_view piece) { return piece.starts_with("▁"); }

// In scripts that use spaces, a full stop ends a sentence only before a space: not in 3.5.
bool ends_sentence(std::string_view piece, std::string_view next) {
  constexpr std::array<std::string_view, 5> with_blank = {".", "!", "?", "…", "।"},
                                            without = {"。", "！", "？", "．", "؟"};
  const auto ends = [&](std::string_view mark) { return piece.ends_with(mark); };
  return std::ranges::any_of(without, ends) || (starts_word(next) && std::ranges::any_of(with_blank, ends));
}

// Number of pieces in the first segment. Requires more than `longest` pieces.
int first_segment(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest) {
  int word = longest;
  bool word_found = false;
  for (int at = longest; at > longest / 2; --at) {
    const std::string &before = vocabulary.piece(ids[at - 1]), &after = vocabulary.piece(ids[at]);
    if (ends_sentence(before, after)) return at;
    if (!word_found && starts_word(after)) word = at, word_found = true;
  }
  return word;
}

}  // namespace

std::vector<std::vector<int32_t>> split_long(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest) {
  invariant(longest >= 1, "a segment has room for a piece");
  std::vector<std::vector<int32_t>> segments;
  while (int64_t(ids.size()) > longest) {
    const int pieces = first_segment(vocabulary, ids, longest);
    segments.emplace_back(ids.begin(), ids.begin() + pieces);
    ids = ids.subspan(pieces);
  }
  if (!ids.empty()) segments.emplace_back(ids.begin(), ids.end());
  return segments;
}

}  // namespace dragoman
