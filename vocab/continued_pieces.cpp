#include "vocab/continued_pieces.h"

#include <algorithm>

namespace dragoman {

DecodedText join_continued(const std::vector<std::string>& pieces) {
  DecodedText decoded;
  std::string& text = decoded.text;
  for (const std::string& piece : pieces) {
    const bool more = piece.ends_with(continuation_mark);
    const size_t bytes = piece.size() - (more ? continuation_mark.size() : 0);
    decoded.ranges.push_back({text.size(), text.size() + bytes});
    text.append(piece, 0, bytes).append(more ? "" : " ");
  }
  if (text.ends_with(' ')) text.pop_back();
  for (ByteRange& range : decoded.ranges) range.end = std::min(range.end, text.size());
  return decoded;
}

std::string text_of_continued(const std::string& piece) {
  return piece.ends_with(continuation_mark) ? piece.substr(0, piece.size() - continuation_mark.size()) : piece + ' ';
}

bool has_continued_pieces(const std::vector<std::string>& pieces) {
  const auto marked = std::ranges::count_if(pieces, [](const std::string& piece) {
    return piece.size() > continuation_mark.size() && piece.ends_with(continuation_mark);
  });
  return marked > 0 && size_t(marked) * 100 >= pieces.size();
}

}  // namespace dragoman
