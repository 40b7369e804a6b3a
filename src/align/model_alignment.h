#pragma once
#include <span>
#include <vector>

#include "align/alignment.h"
#include "data/id_pairs.h"
#include "model/model.h"

namespace dragoman {

/// Throws Error if the model has no cross-attention to take alignments from.
void require_cross_attention(const ModelConfig& config);

/// The alignment of each sentence of an attention: the mean of its weights over the heads of the configuration.
std::vector<Alignment> alignments_of(const ObservedAttention& attention, const AlignmentConfig& config);

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

}  // namespace dragoman
