#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// A folder of CTranslate2 with an encoder-decoder Transformer (model.bin of version 4 to 6, config.json and lists of
/// tokens), or a package of Argos Translate that holds one: .argosmodel, or the folder that was installed. `vocabs`:
/// files that split text, if the folder has none. nullopt: not such a model. Error, naming the file and the variable,
/// for what dragoman does not support.
std::optional<ConvertedModel> read_ctranslate2(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
