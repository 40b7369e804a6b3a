#pragma once
#include <optional>
#include <string>

#include "interop/converted_model.h"

namespace dragoman {

/// A folder of Hugging Face's transformers with a model of MarianMT (`"model_type": "marian"`, such as OPUS-MT's),
/// M2M100 ("m2m_100", also NLLB-200) or mBART-50 ("mbart"): config.json, model.safetensors or its shards, and the files
/// that split text into pieces. nullopt: not such a folder. Error, naming the file and the key or tensor, for other
/// models.
std::optional<ConvertedModel> read_huggingface(const std::string& path);

}  // namespace dragoman
