#pragma once
#include <memory>
#include <string>
#include <vector>

#include "nn/recurrent.h"

namespace dragoman {

/// The hidden states of an encoder's last layer.
struct EncoderStates {
  Var all;                // (N,D)
  Var forward, backward;  // (N,D/2) each: the directions, which `all` concatenates; or `all` and empty
};

/// The layers of an encoder of packed sentences, without embeddings. Each kind is a file in this folder.
class Encoder {
 public:
  virtual ~Encoder() = default;
  /// x (N,inputs), rows at `positions` (N,2).
  virtual EncoderStates operator()(Context& cx, Var x, const Spans& spans, const Tensor& positions) const = 0;
};

struct RecurrentEncoderDesign {
  std::vector<std::string> layers;  // their names: "encoder.0"
  Cell cell;
  int64_t inputs, dim;   // of the first layer, and D
  bool norm;             // layer normalisation of the products of cells
  double dropout;        // between layers
  bool reverse = false;  // unidirectional: read from the last token to the first
};
std::shared_ptr<const Encoder> make_bidirectional_encoder(Parameters& p, const RecurrentEncoderDesign& d);
std::shared_ptr<const Encoder> make_unidirectional_encoder(Parameters& p, const RecurrentEncoderDesign& d);

struct ConvolutionalEncoderDesign {
  int layers;
  int64_t inputs, dim;  // of embeddings, and D
  int width;            // rows that a layer reads together
  double dropout;       // of the gated products
};
std::shared_ptr<const Encoder> make_convolutional_encoder(Parameters& p, const ConvolutionalEncoderDesign& d);

}  // namespace dragoman
