#pragma once
#include <filesystem>

#include "interop/json_object.h"
#include "io/safetensors.h"
#include "model/config.h"

namespace dragoman {

/// What generate() is told: generation_config.json or, in older folders that have no such file, config.json.
JsonObject huggingface_generation(const std::filesystem::path& folder, const JsonObject& config);

/// Sets the rule of the search and the suppressed pieces. Error for what dragoman does not support; a warning names the
/// settings that are ignored.
void set_generation(ModelConfig& model, const JsonObject& generation);

/// With `renormalize_logits`, suppressed pieces take no probability from the others: the weights get an output bias
/// that says so.
void renormalize(ModelConfig& model, std::vector<TensorEntry>& weights, const JsonObject& generation);

}  // namespace dragoman
