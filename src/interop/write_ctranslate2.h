#pragma once
#include <string>

#include "io/model_file.h"

namespace dragoman {

/// Writes a model as a new folder for CTranslate2: model.bin of version 6, config.json, token lists and, for the
/// program that calls CTranslate2, source.spm and target.spm. The types of weights are kept. Error, naming the field,
/// for models that CTranslate2 does not support; then nothing is written.
void write_ctranslate2(const ModelFile& model, const std::string& folder);

}  // namespace dragoman
