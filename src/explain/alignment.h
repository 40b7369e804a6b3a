#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/id_pairs.h"
#include "model/model.h"

namespace dragoman {

/// How much each target piece looked at each source piece, </s> on both sides included: the last cross-attention of a
/// model, the mean over its heads. Rows sum to 1, but for --attention-local, where a piece may see nothing or less.
struct Alignment {
  int64_t sources = 0;         // S
  std::vector<float> weights;  // (T,S)

  int64_t targets() const { return sources == 0 ? 0 : int64_t(weights.size()) / sources; }  // T
  std::span<const float> row(int64_t target) const { return std::span(weights).subspan(target * sources, sources); }
};

/// Puts the next part of a line behind those before it: its pieces on either side count on from theirs, and no part
/// sees another.
void append(Alignment& line, const Alignment& part);

/// How an alignment is written, as in Marian (--alignment). hard: pairs i-j of a source and a target piece, counted
/// from 0, one for each target piece, the one it looks at most; above: one for each weight above the threshold; soft:
/// all weights.
struct AlignmentStyle {
  enum Kind { none, hard, soft, above } kind = none;
  double threshold = 1;  // above only
  bool operator==(const AlignmentStyle&) const = default;
};

/// Error unless it is none, hard, soft or a number above 0 and at most 1, which is hard.
AlignmentStyle parse_alignment_style(std::string_view word);
/// What parse_alignment_style reads back.
std::string to_string(const AlignmentStyle& style);

/// hard, above: "0-0 1-1 1-2", sorted by source; soft: target pieces between blanks, source pieces between commas.
std::string to_text(const Alignment& alignment, const AlignmentStyle& style);

/// Watches a pass without a tape and keeps its alignments.
class AlignmentObserver {
 public:
  AlignmentObserver();
  AlignmentObserver(const AlignmentObserver&) = delete;

  const AttentionObserver* observer() const { return &observer_; }
  /// Of the last pass, one for each sentence. Error if it had no cross-attention.
  std::vector<Alignment> take();

 private:
  AttentionObserver observer_;
  std::vector<Alignment> last_;
};

/// all[numbers[i]] = some[i].
void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all);

/// The alignments of pairs, by a forced pass in float32 or with packed weights; like those of for_each_batch, whatever
/// they are computed with. A pair whose target is empty has the empty alignment.
std::vector<Alignment> align(const Context& cx, Model& model, std::span<const IdPair> pairs, int64_t batch_words);

}  // namespace dragoman
