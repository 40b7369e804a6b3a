#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for ONNX Runtime, named as optimum names things (docs/existing_models.md):
/// encoder_model.onnx; decoder_model_merged.onnx, which computes some tokens, given the keys and values of those
/// before; configuration and vocabularies as of transformers' MarianMT. Weights are float32. Error, naming the field,
/// for models that it cannot write; then nothing is written.
void write_onnx(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
