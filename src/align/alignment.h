#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "align/alignment_style.h"
#include "model/token_link.h"

namespace dragoman {

/// Attention of each target token to each source token, including </s> on both sides: of one cross-attention of the
/// model, averaged over heads (AlignmentConfig). Rows sum to 1, except that with --attention-local they may sum to
/// less, down to 0.
struct Alignment {
  int64_t sources = 0;         // S
  std::vector<float> weights;  // (T,S)

  int64_t targets() const { return sources == 0 ? 0 : int64_t(weights.size()) / sources; }  // T
  std::span<const float> row(int64_t target) const { return std::span(weights).subspan(target * sources, sources); }
};

/// Removes the first target tokens, which were given before the translation.
void drop_targets(Alignment& alignment, int64_t tokens);

/// Removes `tokens` source tokens from `first` on, which are no words of the text. Rows then sum to less than 1.
void drop_sources(Alignment& alignment, size_t first, size_t tokens);

/// What one style of alignment needs of a line and its segments: the number of a token counts those of the segments
/// before its own, and weights between segments are 0. Except with `soft`, it takes memory in proportion to the tokens.
struct LineAlignment {
  int64_t sources = 0, targets = 0;  // tokens
  std::vector<TokenLink> links;      // hard, in the order of target tokens: the source token with the largest weight,
                                     // the first of equal ones; above: all above the threshold
  std::vector<Alignment> segments;   // soft

  LineAlignment() = default;
  LineAlignment(Alignment segment, const AlignmentStyle& style);
};

/// Appends the alignment of a line's next segments.
void append(LineAlignment& line, const LineAlignment& next);

/// hard, above: "0-0 1-1 1-2", sorted by source; soft: target tokens separated by spaces, source tokens by commas.
std::string to_text(const LineAlignment& alignment, const AlignmentStyle& style);
/// The same in parts, of soft alignments one for each target token: the text of a long line takes much more memory than
/// its segments, with its zeros between them.
void write_alignment(const LineAlignment& alignment, const AlignmentStyle& style,
                     const std::function<void(std::string_view)>& write);

}  // namespace dragoman
