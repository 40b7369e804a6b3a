#pragma once
#include <vector>

#include "io/model_file.h"

namespace dragoman {

/// A model of another program in the words of this one: what save_model writes and ModelFile::in_memory holds. The
/// weights are converted when they are asked for, one at a time.
struct ConvertedModel {
  ModelConfig config;
  Vocabularies vocabularies;
  std::vector<TensorEntry> weights;
};

}  // namespace dragoman
