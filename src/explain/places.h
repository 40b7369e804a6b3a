#pragma once
#include <string>
#include <vector>

#include "io/model_file.h"
#include "nn/positions.h"

namespace dragoman {

/// Vectors of places 0, 1, … that are added to embeddings, so that a model knows the order of words.
struct PlaceVectors {
  std::string name;  // "sinusoidal" and "interleaved", or where learned ones stand: "encoder.positions"
  int64_t columns = 0;
  std::vector<float> values;  // (P,D)
};

/// Those of Vaswani et al. 2017, section 3.5.
PlaceVectors sinusoids(int64_t places, int64_t columns, SinusoidOrder order);

/// Those of a model: of both sides where they are learned, and then of no more places than it has learned. Error if
/// the model adds none.
std::vector<PlaceVectors> places_of(const ModelFile& model, int64_t places);

/// One line of JSON each (docs/explain.md).
std::string to_json(const PlaceVectors& vectors);

/// A web page that needs nothing but itself: for each, the matrix as a picture and the cosines of its rows.
std::string places_page(const std::string& title, const std::vector<PlaceVectors>& all);

}  // namespace dragoman
