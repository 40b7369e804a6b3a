#include "decode/split.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "interop/languages.h"
#include "text/characters.h"

namespace dragoman {
namespace {

using Segments = std::vector<std::vector<int32_t>>;

// In scripts that use spaces, a full stop ends a sentence only before a space: not in 3.5.
bool ends_sentence(std::string_view text, bool before_blank) {
  constexpr std::array<std::string_view, 5> with_blank = {".", "!", "?", "…", "।"},
                                            without = {"。", "！", "？", "．", "؟"};
  const auto ends = [&](std::string_view mark) { return text.ends_with(mark); };
  return std::ranges::any_of(without, ends) || (before_blank && std::ranges::any_of(with_blank, ends));
}

// SentencePiece writes blanks around an unknown piece, which may be within a word.
std::string text_of(const Vocabulary& vocabulary, int32_t id) {
  const std::string text = vocabulary.text_of(id);
  return id == vocabulary.unk() && text.starts_with(' ') ? std::string(without_blanks(text)) : text;
}

// Number of pieces in the first segment. Requires more than `longest` pieces.
int first_segment(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest) {
  int word = longest;
  bool word_found = false;
  for (int at = longest; at > longest / 2; --at) {
    const std::string before = text_of(vocabulary, ids[at - 1]), after = text_of(vocabulary, ids[at]);
    // Blanks without a word belong to the word after them.
    const bool blank = after.starts_with(' ') || (before.ends_with(' ') && !without_blanks(before).empty());
    if (ends_sentence(without_blanks(before), blank)) return at;
    if (!word_found && blank) word = at, word_found = true;
  }
  return word;
}

}  // namespace

size_t repeated_tags(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest) {
  const size_t tags = leading_tags(vocabulary, ids).size();
  return tags < size_t(longest) ? tags : 0;
}

Segments split_long(const Vocabulary& vocabulary, std::span<const int32_t> ids, int longest) {
  invariant(longest >= 1, "a segment has room for a piece");
  if (int64_t(ids.size()) <= longest) return ids.empty() ? Segments() : Segments{{ids.begin(), ids.end()}};
  const auto tags = ids.first(repeated_tags(vocabulary, ids, longest));
  longest -= int(tags.size());
  ids = ids.subspan(tags.size());
  Segments segments;
  while (!ids.empty()) {
    const auto part = ids.first(ids.size() > size_t(longest) ? first_segment(vocabulary, ids, longest) : ids.size());
    auto& segment = segments.emplace_back(tags.begin(), tags.end());
    segment.insert(segment.end(), part.begin(), part.end());
    ids = ids.subspan(part.size());
  }
  return segments;
}

}  // namespace dragoman
