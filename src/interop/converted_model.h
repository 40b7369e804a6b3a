#pragma once
#include <vector>

#include "io/model_file.h"

namespace dragoman {

/// A model of another program in this one's terms: what save_model writes and ModelFile::in_memory holds. The
/// weights are converted on demand, one at a time.
struct ConvertedModel {
  ModelConfig config;
  Vocabularies vocabularies;
  std::vector<TensorEntry> weights;
};

}  // namespace dragoman
