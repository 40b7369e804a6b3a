#pragma once
#include <filesystem>

#include "interop/json_object.h"
#include "model/config.h"

namespace dragoman {

/// The class of transformers that a folder is for. M2M100's also runs NLLB-200, MBart's mBART-50.
enum class HuggingFaceClass { marian, m2m100, mbart };

/// By `model_type`. Error for any other.
HuggingFaceClass huggingface_class(const JsonObject& config);

/// What the class computes, and how its generate() searches. Ids of pieces are those that the files give; the
/// vocabulary adds the rest. Error, naming the key, for what dragoman does not support.
ModelConfig huggingface_model_config(const std::filesystem::path& folder, const JsonObject& config);

}  // namespace dragoman
