#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a CTranslate2 folder with an encoder-decoder Transformer (model.bin of version 4 to 6, config.json and token
/// lists), or an Argos Translate package that contains one: an .argosmodel file, or an installed package's folder.
/// `vocabs`: tokenizer files, if the folder has none. nullopt: not such a model. Error, naming the file and the
/// variable, for what dragoman does not support.
std::optional<ConvertedModel> read_ctranslate2(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
