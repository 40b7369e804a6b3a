#pragma once
#include <span>
#include <string>
#include <vector>

#include "align/alignment_style.h"
#include "data/id_pairs.h"
#include "model/model.h"

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

/// Leaves out the first target tokens: those that are given before a translation.
void drop_targets(Alignment& alignment, int64_t tokens);

/// hard, above: "0-0 1-1 1-2", sorted by source; soft: target tokens separated by spaces, source tokens by commas.
std::string to_text(const Alignment& alignment, const AlignmentStyle& style);

/// Observer that records the alignments of a pass without a tape.
class AlignmentObserver {
 public:
  AlignmentObserver();
  AlignmentObserver(const AlignmentObserver&) = delete;

  const AttentionObserver* observer() const { return &observer_; }
  /// The alignments of the last pass, one per sentence. Throws Error if it had no cross-attention.
  std::vector<Alignment> take();

 private:
  AttentionObserver observer_;
  std::vector<Alignment> last_;
};

/// all[numbers[i]] = some[i].
void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all);

/// The alignments of pairs, by a forced pass in float32 or with packed weights. As with for_each_batch, they do not
/// depend on the other pairs of a batch. A pair whose target is empty has the empty alignment.
std::vector<Alignment> align(const Context& cx, Model& model, std::span<const IdPair> pairs, int64_t batch_words);

}  // namespace dragoman
