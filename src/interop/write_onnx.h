#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for ONNX Runtime, with the names that optimum uses (docs/existing_models.md):
/// encoder_model.onnx; decoder_model_merged.onnx, which decodes some tokens, given the keys and values of the previous
/// ones; configuration and vocabularies as for transformers' MarianMT. Weights are float32. Error, naming the field,
/// for models that cannot be written; then nothing is written.
void write_onnx(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
