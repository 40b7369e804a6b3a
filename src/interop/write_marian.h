#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for Marian: model.bin in float32, its vocabularies, and decoder.yml for
/// marian-decoder -c. Error, naming the field, for models that Marian would compute differently; then nothing is
/// written. Marian's decoder begins with a zero vector, its sinusoids are tensor2tensor's and its norms have an epsilon
/// of 1e-6, as in models trained with --task transformer-base-marian.
void write_marian(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
