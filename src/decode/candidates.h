#pragma once
#include <map>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman {

/// The pieces that a shortlist allows in each sentence of a search, and their union, since a step computes one matrix
/// for all sentences. A sentence sees only its own pieces, always at the same positions, so its translation does not
/// depend on the other sentences of the batch.
class Candidates {
 public:
  bool empty() const { return sentences_.empty(); }
  void add(int sentence, std::vector<int32_t> pieces);  // in ascending order
  void remove(int sentence) { sentences_.erase(sentence); }

  /// The union of these sentences' pieces, in ascending order; valid until the next call.
  const std::vector<int32_t>& join();

  std::span<const int32_t> pieces(int sentence) const { return sentences_.at(sentence).pieces; }
  /// Gathers from the scores of the union (see join()), for each row, the scores of its sentence's pieces, contiguous
  /// and padded with a negligible score. out (R,C) with C = columns(), joint (R,U).
  void take(const Tensor& out, const Tensor& joint, std::span<const int> sentence_of_row) const;
  int64_t columns() const;

 private:
  struct Sentence {
    std::vector<int32_t> pieces, positions;  // in the union
  };
  std::map<int, Sentence> sentences_;
  std::vector<int32_t> together_;
};

/// A score so low that its exponential is 0, but finite, as kernels require.
constexpr float impossible = -1e37f;

}  // namespace dragoman
