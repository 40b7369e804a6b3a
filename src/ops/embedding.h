#pragma once
#include "autodiff/context.h"

namespace dragoman {

/// y (N,D) = dropout(scale · table[ids] + positions[token])  (Vaswani et al. 2017, sections 3.4, 3.5, 5.4).
/// ids (N) int32  positions (N,2) int32: sentence, token  table (V,D)  position_table (P,D) or empty.
struct EmbeddingInput {
  Tensor ids, positions;
  Var table, position_table;
  double scale = 1;
  Dropout words = {};  // of whole rows of the table, whose tokens keep their position alone (Sennrich et al. 2016, WMT)
};
Var embedding(Context& cx, const EmbeddingInput& input, const Dropout& drop);

}  // namespace dragoman
