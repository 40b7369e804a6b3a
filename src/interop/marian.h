#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// A Transformer of Marian (Junczys-Dowmunt et al. 2018) or of its forks for browsers: MODEL.npz, MODEL.bin, or the
/// configuration of a decoder (MODEL.npz.decoder.yml, decoder.yml) with one model. `vocabs`: the files of source and
/// target vocabulary; empty: those that the configuration of the decoder beside the model names. nullopt: the file
/// is none of these. Error, naming file, option or tensor, for a model that dragoman does not support.
std::optional<ConvertedModel> read_marian(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
