#pragma once
#include "autodiff/context.h"
#include "backend/step_keys.h"

namespace dragoman {

/// What the rows of a decoding step may copy: at most T pieces per row, whose keys are located by `keys`.
struct CopyKeys {
  Tensor k;       // (C,K)
  StepKeys keys;  // without a table
  Tensor pieces;  // (R,T) int32
};

/// One decoding step of a model that copies (backend/copying.h): replaces logits (R,V) by log p of each piece.
/// q (R,K)  gate (R,1). Not recorded. A row's result depends only on that row and its keys.
void mix_copies(Context& cx, const Tensor& logits, const Tensor& q, const Tensor& gate, const CopyKeys& copies);

}  // namespace dragoman
