#pragma once
#include <string>
#include <vector>

#include "io/model_file.h"
#include "nn/positions.h"

namespace dragoman {

/// Vectors for positions 0, 1, … that are added to embeddings, so that a model knows the order of tokens.
struct PositionVectors {
  std::string name;  // "sinusoidal", "interleaved", or the tensor of learned ones: "encoder.positions"
  int64_t columns = 0;
  std::vector<float> values;  // (P,D)
};

/// Sinusoids (nn/positions.h).
PositionVectors sinusoids(int64_t positions, const SinusoidDesign& design);

/// The vectors that a model adds. Learned ones are given for both sides, and only for the learned positions. Throws
/// Error if the model adds none.
std::vector<PositionVectors> positions_of(const ModelFile& model, int64_t positions);

/// One line of JSON (docs/explain.md).
std::string to_json(const PositionVectors& vectors);

}  // namespace dragoman
