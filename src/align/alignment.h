#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "align/alignment_style.h"

namespace dragoman {

/// Attention of each target token to each source token, including </s> on both sides: the last cross-attention of the
/// model, averaged over its heads. Rows sum to 1, except that with --attention-local they may sum to less, down to 0.
struct Alignment {
  int64_t sources = 0;         // S
  std::vector<float> weights;  // (T,S)

  int64_t targets() const { return sources == 0 ? 0 : int64_t(weights.size()) / sources; }  // T
  std::span<const float> row(int64_t target) const { return std::span(weights).subspan(target * sources, sources); }
};

/// Appends the alignment of a line's next segment: its tokens are numbered after those of the segments before it, and
/// weights between segments are 0.
void append(Alignment& line, const Alignment& part);

/// Removes the first target tokens, which were given before the translation.
void drop_targets(Alignment& alignment, int64_t tokens);

/// hard, above: "0-0 1-1 1-2", sorted by source; soft: target tokens separated by spaces, source tokens by commas.
std::string to_text(const Alignment& alignment, const AlignmentStyle& style);

}  // namespace dragoman
