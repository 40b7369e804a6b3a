#include "decode/repeats.h"

#include <algorithm>

namespace dragoman {

std::vector<int32_t> repeating_pieces(std::span<const int32_t> pieces, int n) {
  std::vector<int32_t> repeating;
  const auto before = size_t(n - 1);
  if (pieces.size() < before) return repeating;
  const auto last = pieces.last(before);
  for (size_t i = before; i < pieces.size(); ++i)
    if (std::ranges::equal(pieces.subspan(i - before, before), last)) repeating.push_back(pieces[i]);
  return repeating;
}

}  // namespace dragoman
