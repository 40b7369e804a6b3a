#include "model/sentences.h"

#include <algorithm>

namespace dragoman {

SentencesOfLines sentences_of(const PackedIds& lines, std::span<const int> ends) {
  const auto ends_one = [&](int64_t row) { return std::ranges::binary_search(ends, lines.ids[row]); };
  std::vector<int32_t> lengths, counts;
  for (int s = 0; s < lines.spans.sentences(); ++s) {
    const Range line = lines.spans[s];
    int64_t begin = line.begin;
    int32_t count = 1;
    for (int64_t row = line.begin; row + 2 < line.end; ++row) {
      if (!ends_one(row) || ends_one(row + 1)) continue;
      lengths.push_back(int32_t(row + 1 - begin));
      begin = row + 1;
      ++count;
    }
    lengths.push_back(int32_t(line.end - begin));
    counts.push_back(count);
  }
  return {Spans::of_lengths(lengths), Spans::of_lengths(counts)};
}

}  // namespace dragoman
