#pragma once
#include <vector>

#include "io/model_file.h"

namespace dragoman {

/// A foreign model converted to our format: what save_model writes and ModelFile::in_memory holds. Weights are
/// converted on demand, one at a time.
struct ConvertedModel {
  ModelConfig config;
  Vocabularies vocabularies;
  std::vector<TensorEntry> weights;
};

}  // namespace dragoman
