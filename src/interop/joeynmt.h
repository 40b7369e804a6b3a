#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a Transformer of JoeyNMT 2: a folder with config.yaml, checkpoints and vocabularies, or a checkpoint in such a
/// folder. `vocabs`, if not empty, names a list of tokens (.txt) or a tokenizer for each side. nullopt: not a model of
/// JoeyNMT. Error, naming the file and the option or tensor, for what dragoman does not support.
std::optional<ConvertedModel> read_joeynmt(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
