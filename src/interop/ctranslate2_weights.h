#pragma once
#include "interop/ctranslate2_bin.h"
#include "io/safetensors.h"
#include "model/config.h"

namespace dragoman {

/// The weights of a TransformerSpec. Sets what follows from the variables: sizes, norms, positions, activation and
/// which matrices are tied. A factor of the output layer's input (scale_outputs) becomes part of the decoder's last
/// norm. Error, naming the variable, for what dragoman does not support.
std::vector<TensorEntry> ctranslate2_weights(CTranslate2Bin bin, ModelConfig& config,
                                             const std::array<std::string, 2>& lists);

}  // namespace dragoman
