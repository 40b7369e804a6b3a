#pragma once
#include <map>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace dragoman {

/// Which pieces may follow in each sentence of a search, where a shortlist says so; and all of them together, since a
/// step computes one matrix for all sentences. What a sentence sees are its own pieces only, in the same places
/// whatever it is translated together with: its translation depends on nothing else.
class Candidates {
 public:
  bool empty() const { return sentences_.empty(); }
  void add(int sentence, std::vector<int32_t> pieces);  // in rising order
  void remove(int sentence) { sentences_.erase(sentence); }

  /// Puts together what the sentences have, in rising order; valid for them until the next call.
  const std::vector<int32_t>& join();

  std::span<const int32_t> pieces(int sentence) const { return sentences_.at(sentence).pieces; }
  /// From scores of what join() gave, row by row: those of each row's sentence, side by side, and a score that counts
  /// nothing behind them. out (R,C) with C = columns(), joint (R,U).
  void take(const Tensor& out, const Tensor& joint, std::span<const int> sentence_of_row) const;
  int64_t columns() const;

 private:
  struct Sentence {
    std::vector<int32_t> pieces, positions;  // in the union
  };
  std::map<int, Sentence> sentences_;
  std::vector<int32_t> together_;
};

/// A score so low that its exponential is nothing, and finite, which kernels want.
constexpr float impossible = -1e37f;

}  // namespace dragoman
