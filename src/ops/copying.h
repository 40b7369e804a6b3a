#pragma once
#include "autodiff/context.h"
#include "backend/step_keys.h"

namespace dragoman {

/// What the rows of a decoding step may copy: T pieces at most for each, whose keys `keys` finds.
struct CopyKeys {
  Tensor k;       // (C,K)
  StepKeys keys;  // without a table
  Tensor pieces;  // (R,T) int32
};

/// One step of a model that copies (backend/copying.h): logits (R,V) become log p of each piece, in their place.
/// q (R,K)  gate (R,1). Not recorded. A row's result depends on that row and its keys alone.
void mix_copies(Context& cx, const Tensor& logits, const Tensor& q, const Tensor& gate, const CopyKeys& copies);

}  // namespace dragoman
