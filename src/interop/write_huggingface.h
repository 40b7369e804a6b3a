#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for transformers' MarianMT: config.json, generation_config.json, model.safetensors,
/// vocab.json, source.spm and target.spm. Types of weights are kept, except 8 bits, which become float32. A vocabulary
/// without <pad> gets one, which is never generated. Error, naming the field, for models that do not have MarianMT's
/// shape (post-norm, the paper's sinusoids from 0, 1e-5 in norms); then nothing is written.
void write_huggingface(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
