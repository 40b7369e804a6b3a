#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a Transformer of Marian (Junczys-Dowmunt et al. 2018) or of its browser forks: MODEL.npz, MODEL.bin, or a
/// decoder configuration (MODEL.npz.decoder.yml, decoder.yml) with one model. `vocabs`: the files of source and target
/// vocabulary; empty: those named by the decoder configuration beside the model. nullopt: the file is none of these.
/// Error, naming file, option or tensor, for a model that dragoman does not support.
std::optional<ConvertedModel> read_marian(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
