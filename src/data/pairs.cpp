#include "data/pairs.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/grouped.h"
#include "base/words.h"
#include "vocab/model_facts.h"

namespace dragoman {
namespace {

// How badly two lines match: the absolute logarithm of the ratio of their lengths.
double misfit(int32_t a, int32_t b) { return std::abs(std::log((1.0 + a) / (1.0 + b))); }

// Assumes that one block of lines of `more` has no counterpart in `fewer`, and returns the index where it most likely
// begins: lines before the block pair directly, lines after it pair when shifted, with the least total misfit. One
// pass.
size_t likeliest_gap(std::span<const int32_t> more, std::span<const int32_t> fewer) {
  const size_t shift = more.size() - fewer.size();
  double gain = 0, best = 0;
  size_t gap = 0;
  for (size_t i = 0; i < fewer.size(); ++i) {
    gain += misfit(more[i + shift], fewer[i]) - misfit(more[i], fewer[i]);
    if (gain >= best) best = gain, gap = i + 1;
  }
  return gap;
}

}  // namespace

void require_paired(const std::array<std::string, 2>& paths, const std::array<std::span<const int32_t>, 2>& lengths) {
  const auto& [source, target] = lengths;
  if (source.size() == target.size()) return;
  const bool source_is_longer = source.size() > target.size();
  const size_t gap = source_is_longer ? likeliest_gap(source, target) : likeliest_gap(target, source);
  throw Error(fmt::format("{} has {} lines, {} has {}\n  Line i of one file must be the translation of line i of the "
                          "other. Judging by the lengths of lines, line {} of {} is the first without a partner.",
                          paths[0], grouped(source.size()), paths[1], grouped(target.size()), grouped(gap + 1),
                          paths[source_is_longer ? 0 : 1]),
              "compare the files around that line");
}

LinePairs read_line_pairs(const TextPair& text, int64_t max_lines) {
  ParallelReader reader({text});
  LinePairs pairs;
  for (std::array<std::string, 2> pair; (max_lines == 0 || reader.lines() < max_lines) && reader.next(pair);) {
    pairs.source.push_back(std::move(pair[0]));
    pairs.target.push_back(std::move(pair[1]));
  }
  return pairs;
}

std::vector<std::string> as_translations_are(const Vocabulary& target, std::vector<std::string> lines,
                                             bool given_pieces) {
  if (!given_pieces && !facts_of(target.bytes()).joins_tokens) return lines;
  for (std::string& line : lines) {
    const auto pieces = split_at_blanks(line);
    line = target.decode_pieces({pieces.begin(), pieces.end()});
  }
  return lines;
}

}  // namespace dragoman
