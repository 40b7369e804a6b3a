#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for transformers' MarianMT: config.json, generation_config.json, model.safetensors,
/// vocab.json, source.spm and target.spm. The types of weights are kept, except that 8 bits become float32. A
/// vocabulary without <pad> gets one, which is never generated. Error, naming the field, for models that differ from
/// MarianMT (post-norm, the paper's sinusoids from 0, an epsilon of 1e-5 in norms); then nothing is written.
void write_huggingface(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
