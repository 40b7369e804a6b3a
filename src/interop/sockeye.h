#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a Transformer of Sockeye 3: a model folder, of which it takes params.best, or one file of parameters in such a
/// folder. `vocabs`, if not empty, names the tokenizer of each side. nullopt: not a model of Sockeye. Error, naming the
/// file and the option or tensor, for what dragoman does not support.
std::optional<ConvertedModel> read_sockeye(const std::string& path, const std::vector<std::string>& vocabs);

/// All files of such a model, except tokenizers.
std::vector<std::string> sockeye_parts(const std::string& path);

}  // namespace dragoman
