#pragma once
#include <filesystem>

#include "interop/huggingface_config.h"
#include "io/model_file.h"

namespace dragoman {

/// The vocabularies of a folder, with the tokenizer's ids of pieces and languages. Sets the unknown piece and the
/// positions of languages in `model`, and the language that `generation`, what generate() is told, begins with. Error
/// for a file that is missing or belongs to another model.
Vocabularies huggingface_vocabularies(const std::filesystem::path& folder, const JsonObject& config,
                                      const JsonObject& generation, ModelConfig& model);

}  // namespace dragoman
