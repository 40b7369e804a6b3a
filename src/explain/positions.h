#pragma once
#include <string>
#include <vector>

#include "io/model_file.h"
#include "nn/positions.h"

namespace dragoman {

/// Vectors of places 0, 1, … that are added to embeddings, so that a model knows the order of words.
struct PositionVectors {
  std::string name;  // "sinusoidal" and "interleaved", or where learned ones stand: "encoder.positions"
  int64_t columns = 0;
  std::vector<float> values;  // (P,D)
};

/// Those of Vaswani et al. 2017, section 3.5.
PositionVectors sinusoids(int64_t positions, int64_t columns, SinusoidOrder order);

/// Those of a model: of both sides where they are learned, and then of no more places than it has learned. Error if
/// the model adds none.
std::vector<PositionVectors> positions_of(const ModelFile& model, int64_t positions);

/// One line of JSON each (docs/explain.md).
std::string to_json(const PositionVectors& vectors);

/// A web page that needs nothing but itself: for each, the matrix as a picture and the cosines of its rows.
std::string positions_page(const std::string& title, const std::vector<PositionVectors>& all);

}  // namespace dragoman
