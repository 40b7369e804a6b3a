#pragma once
#include <vector>

#include "explain/attention_maps.h"

namespace dragoman {

/// Attention rollout (Abnar & Zuidema 2020): how much of each input is in a vector after each layer, if attention were
/// all that moves anything. A layer mixes what its vectors know by the mean A of its heads and leaves as much in place,
/// because of the residual connection: known ← (known + A · known) / (1 + Σ A of the row), which is the paper's
/// (A + I)/2 where rows of A sum to 1. In a decoder layer the encoder's last layer is mixed in by cross-attention the
/// same way. Of each layer's attentions there is one map afterwards: of encoder-self source pieces in encoder vectors,
/// of decoder-self pieces read in decoder vectors, of cross source pieces in decoder vectors; the rows of the last two
/// together sum to 1.
///
/// `maps` are those of attentions_of, with all heads.
std::vector<AttentionMap> rollout(const std::vector<AttentionMap>& maps);

}  // namespace dragoman
