#pragma once
#include "io/safetensors.h"

namespace dragoman {

/// The logit of a piece that is never generated: its probability is negligible in float32, float16 can represent it,
/// and label smoothing over all pieces, as in fine-tuning, is unchanged.
inline constexpr float suppressed_logit = -100;

/// The bias of an output layer, `output.bias` (V) in float32, by which these pieces take no probability from the
/// others. `bias` is the layer's own (V), null: none.
TensorEntry suppressed_bias(const TensorEntry* bias, int pieces, std::vector<int> suppressed);

}  // namespace dragoman
