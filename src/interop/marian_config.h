#pragma once
#include <string>
#include <vector>

#include "model/config.h"

namespace dragoman {

/// The configuration of a Marian model, from the YAML text in its file (special:model.yml), without vocabulary sizes
/// and ids of special pieces, which are set from the vocabularies. Error, naming the file, the option and its value,
/// for a model that dragoman does not support.
ModelConfig marian_config(const std::string& yaml, const std::string& path);

/// The number of each decoder layer in the names of its weights, `decoder_l2_…`; empty: from 1 on.
std::vector<int> marian_decoder_layers(const std::string& yaml, const std::string& path);

/// Its dim-vocabs: Marian reads so many pieces of the list of each side, the rest of which the model does not have.
/// 0 or nothing: all.
std::vector<int> marian_dim_vocabs(const std::string& yaml, const std::string& path);

}  // namespace dragoman
