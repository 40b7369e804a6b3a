#pragma once
#include <optional>
#include <string>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a folder of Hugging Face's transformers with a MarianMT model (`"model_type": "marian"`, such as OPUS-MT), an
/// M2M100 model ("m2m_100", also NLLB-200) or an mBART-50 model ("mbart"): config.json, model.safetensors or its
/// shards, and the tokenizer files. nullopt: not such a folder. Error, naming the file and the key or tensor, for other
/// models.
std::optional<ConvertedModel> read_huggingface(const std::string& path);

}  // namespace dragoman
