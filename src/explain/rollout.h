#pragma once
#include <vector>

#include "explain/attention_maps.h"

namespace dragoman {

/// Attention rollout (Abnar & Zuidema 2020): the share of each input in a vector after each layer, if only attention
/// moved information. A layer mixes its vectors by the mean A of its heads and, because of the residual connection,
/// keeps an equal share: known ← (known + A · known) / (1 + Σ A of the row), which is the paper's (A + I)/2 when rows
/// of A sum to 1. In a decoder layer, cross-attention mixes in the encoder's last layer the same way. Each attention
/// of a layer yields one map. encoder-self: source tokens in encoder vectors; decoder-self: decoder inputs in decoder
/// vectors; cross: source tokens in decoder vectors. The rows of the last two together sum to 1.
///
/// `maps` are those of attentions_of, with all heads.
std::vector<AttentionMap> rollout(const std::vector<AttentionMap>& maps);

}  // namespace dragoman
