#pragma once
#include "align/model_alignment.h"

namespace dragoman {

/// The alignments of all pairs.
inline std::vector<Alignment> aligned(const Context& cx, Model& model, std::vector<IdPair> pairs, int64_t batch_words) {
  std::vector<Alignment> all(pairs.size());
  PairAlignments alignments(std::move(pairs), batch_words);
  while (!alignments.at_end())
    alignments.next(cx, model, [&](size_t pair, Alignment found) { all[pair] = std::move(found); });
  return all;
}

}  // namespace dragoman
