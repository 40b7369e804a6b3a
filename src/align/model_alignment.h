#pragma once
#include <functional>
#include <span>
#include <vector>

#include "align/alignment.h"
#include "data/id_pairs.h"
#include "model/model.h"

namespace dragoman {

/// Throws Error if the model has no cross-attention to take alignments from.
void require_cross_attention(const ModelConfig& config);

/// Observer that records the alignments of a pass without a tape: those of the layer and heads that the configuration
/// names (AlignmentConfig).
class AlignmentObserver {
 public:
  explicit AlignmentObserver(const ModelConfig& config);
  AlignmentObserver(const AlignmentObserver&) = delete;

  const AttentionObserver* observer() const { return &observer_; }
  /// The alignments of the last pass, one per sentence. The model must have cross-attention.
  std::vector<Alignment> take();

 private:
  const AlignmentConfig config_;
  AttentionObserver observer_;
  int layers_ = 0;  // cross-attentions so far in this pass
  std::vector<Alignment> found_;
};

/// all[numbers[i]] = some[i].
void put(std::vector<Alignment> some, std::span<const size_t> numbers, std::vector<Alignment>& all);

/// The alignments of pairs, by a forced pass in float32 or with packed weights, one batch at a time: between batches a
/// caller may do other work, or stop. As with PairBatches, they do not depend on the other pairs of a batch.
class PairAlignments {
 public:
  PairAlignments(std::vector<IdPair> pairs, int64_t batch_words);

  bool at_end() const { return batches_.at_end(); }
  /// Aligns one batch, unless at the end, and calls `found` for each of its pairs. The alignment of a pair with an
  /// empty target is empty. Returns the number of tokens, of sources or targets, whichever are more.
  int64_t next(const Context& cx, Model& model, const std::function<void(size_t pair, Alignment alignment)>& found);

 private:
  const std::vector<IdPair> pairs_;
  PairBatches batches_;
};

}  // namespace dragoman
