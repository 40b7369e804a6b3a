#include "score/pair_reader.h"

#include <algorithm>

namespace dragoman {

PairReader::PairReader(const TextPair& text) {
  sides_.emplace_back(text.paths[0]);
  if (!text.tsv) sides_.emplace_back(text.paths[1]);
}

bool PairReader::ready() {
  return std::ranges::all_of(sides_, [](LineReader& side) { return side.ready(longest_line_to_score); });
}

LinePairs PairReader::next(int64_t max_pairs) {
  LinePairs pairs;
  size_t bytes = 0;
  while (int64_t(pairs.source.size()) < max_pairs && bytes < window_bytes && (pairs.source.empty() || ready()) &&
         read_pair(pairs))
    bytes += pairs.source.back().size() + pairs.target.back().size();
  return pairs;
}

bool PairReader::read_pair(LinePairs& pairs) {
  std::array<std::string, 2> pair;
  const bool more = sides_.size() == 1 ? read_columns(pair) : read_sides(pair);
  if (!more) return false;
  pairs.source.push_back(std::move(pair[0]));
  pairs.target.push_back(std::move(pair[1]));
  return true;
}

bool PairReader::read_columns(std::array<std::string, 2>& pair) {
  std::string line;
  if (!sides_[0].next_short(line, longest_line_to_score)) return false;
  const std::vector<std::string_view> columns = split_columns(sides_[0], line);
  pair = {std::string(columns[0]), std::string(columns[1])};
  return true;
}

bool PairReader::read_sides(std::array<std::string, 2>& pair) {
  std::array<bool, 2> more;
  for (const size_t side : {0, 1}) {
    more[side] = sides_[side].next_short(pair[side], longest_line_to_score);
    if (more[side]) lengths_[side].push_back(int32_t(pair[side].size()));
  }
  if (more[0] != more[1]) {
    for (const size_t side : {0, 1}) read_to_end(sides_[side], lengths_[side]);
    require_paired({sides_[0].name(), sides_[1].name()}, {lengths_[0], lengths_[1]});
  }
  return more[0];
}

// Reads the rest, so that the message can report the numbers of lines and the line without a partner.
void PairReader::read_to_end(LineReader& reader, std::vector<int32_t>& lengths) {
  for (std::string line; reader.next_short(line, longest_line_to_score);) lengths.push_back(int32_t(line.size()));
}

}  // namespace dragoman
