#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for Marian: model.bin in float32, its vocabularies, and decoder.yml for
/// marian-decoder -c. Error, naming the field, for models that Marian would compute differently: its decoder begins
/// with zeros, it has tensor2tensor's sinusoids and adds 1e-6 in norms, as --task transformer-base-marian trains them;
/// then nothing is written.
void write_marian(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
