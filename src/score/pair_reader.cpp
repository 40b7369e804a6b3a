#include "score/pair_reader.h"

namespace dragoman {

PairReader::PairReader(const std::array<std::string, 2>& paths) : source_(paths[0]), target_(paths[1]) {}

LinePairs PairReader::next(int64_t max_pairs) {
  LinePairs pairs;
  size_t bytes = 0;
  while (int64_t(pairs.source.size()) < max_pairs && bytes < window_bytes && (pairs.source.empty() || ready()) &&
         read_pair(pairs))
    bytes += pairs.source.back().size() + pairs.target.back().size();
  return pairs;
}

bool PairReader::read_pair(LinePairs& pairs) {
  std::string source, target;
  const bool more_source = source_.next_short(source, longest_line_to_score);
  const bool more_target = target_.next_short(target, longest_line_to_score);
  if (more_source) lengths_[0].push_back(int32_t(source.size()));
  if (more_target) lengths_[1].push_back(int32_t(target.size()));
  if (more_source != more_target) {
    read_to_end(source_, lengths_[0]);
    read_to_end(target_, lengths_[1]);
    require_paired({source_.name(), target_.name()}, {lengths_[0], lengths_[1]});
  }
  if (!more_source) return false;
  pairs.source.push_back(std::move(source));
  pairs.target.push_back(std::move(target));
  return true;
}

// Reads the rest, so that the message can report the numbers of lines and the line without a partner.
void PairReader::read_to_end(LineReader& reader, std::vector<int32_t>& lengths) {
  for (std::string line; reader.next_short(line, longest_line_to_score);) lengths.push_back(int32_t(line.size()));
}

}  // namespace dragoman
