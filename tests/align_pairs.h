#pragma once
#include "align/model_alignment.h"

namespace dragoman {

/// The alignments of pairs, by one forced pass. That of a pair with an empty target is empty.
inline std::vector<Alignment> align_pairs(const Context& cx, Model& model, std::span<const IdPair> pairs) {
  std::vector<Alignment> alignments(pairs.size());
  AlignmentObserver aligner(model.config());
  Context observed{.backend = cx.backend,
                   .arena = cx.arena,
                   .packed = cx.packed,
                   .rounded = cx.rounded,
                   .observer = aligner.observer()};
  for_each_batch(pairs, INT64_MAX, [&](const Batch& batch, std::span<const size_t> numbers) {
    if (batch.target.ids.empty()) return;  // there are no queries
    model.loss(observed, batch, 0);
    put(aligner.take(), numbers, alignments);
  });
  return alignments;
}

}  // namespace dragoman
