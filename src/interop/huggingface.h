#pragma once
#include <optional>
#include <string>

#include "interop/converted_model.h"

namespace dragoman {

/// A folder of Hugging Face's transformers with a MarianMT model (`"model_type": "marian"`, as OPUS-MT's are):
/// config.json, model.safetensors or its shards, vocab.json, source.spm and target.spm. nullopt: no such folder. Error,
/// naming the file and the key or tensor, for other models.
std::optional<ConvertedModel> read_huggingface(const std::string& path);

}  // namespace dragoman
