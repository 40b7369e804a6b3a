#pragma once
#include <memory>
#include <string>

#include "io/model_file.h"
#include "model/model.h"

namespace dragoman {

/// A model ready to decode or score: no gradients, weights packed or, in 16 bits on a device, rounded. Weights that
/// only products use have values in this form alone.
struct LoadedModel {
  std::unique_ptr<Model> model;
  Vocabularies vocabularies;
  PackedWeights packed;
  std::unique_ptr<RoundedWeights> rounded = {};  // or null; a Transformer then keeps activations in 16 bits too
  TrainedLengths trained = {};
  std::string checksum = {};  // of the file's content
};
/// With `packed` I8, products are in 8 bits and embeddings, like other matrices that are looked up, are rounded to 8
/// bits. A float32 file and the file that `dragoman quantize` makes of it give exactly the same weights.
LoadedModel load_model(const ModelFile& file, const Backend& backend, Arena& arena, DType packed = DType::f32);
LoadedModel load_model(const std::string& path, const Backend& backend, Arena& arena, DType packed = DType::f32);

}  // namespace dragoman
