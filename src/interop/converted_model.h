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

/// The attention that gives alignments in programs that count layers from 0, or from -1 if from the end.
inline AlignmentConfig alignment_config(int layer, int heads, int decoder_layers) {
  return {.layer = layer < -1 ? decoder_layers + 1 + layer : layer + 1, .heads = heads};
}

}  // namespace dragoman
