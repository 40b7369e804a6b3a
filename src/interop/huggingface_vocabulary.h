#pragma once
#include <filesystem>

#include "interop/huggingface_config.h"
#include "io/model_file.h"

namespace dragoman {

/// The vocabularies of a folder, numbered as its tokenizer numbers pieces and languages. Enters the unknown piece and
/// the positions of languages into the configuration. Error for a file that is missing or belongs to another model.
Vocabularies huggingface_vocabularies(const std::filesystem::path& folder, const JsonObject& config,
                                      ModelConfig& model);

}  // namespace dragoman
