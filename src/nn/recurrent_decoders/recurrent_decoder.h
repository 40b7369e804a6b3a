#pragma once
#include <functional>

#include "nn/cross_attention.h"
#include "nn/recurrent.h"

namespace dragoman {

/// A recurrent decoder: cells, their initial state, and the input of the output layer. The kinds differ in when they
/// attend to the encoder's output; each is a file in this folder, whose step() is the paper's equations.
class RecurrentDecoder {
 public:
  struct Design {
    int layers;
    int64_t inputs, dim;  // E of embeddings, D of states
    Cell cell;
    bool norm;       // layer normalisation of the products of cells
    double dropout;  // between layers and of the result
    AttentionDesign attention;
  };
  /// The state between steps, for n sentences.
  struct State {
    std::vector<CellState> layers;
    Var feed = {};  // (n,E), input feeding: the result of the previous step; empty: zeros
  };
  /// The inputs of a step for n target tokens.
  struct Inputs {
    Var gates, embedded;  // (n,G·D), their part of the first layer's gates; (n,E)
    Tensor positions;     // (n,2)
  };
  struct Output {
    State state;
    Var query;   // (n,D), the state that attended; or empty
    Var result;  // (n,E), which the output layer reads
  };
  using Attend = std::function<Var(const Var& query)>;

  virtual ~RecurrentDecoder() = default;

  /// h_0 = tanh(W e + b) in each layer, of a summary e (n,D) of the source.
  State first_state(Context& cx, const Var& summary) const;
  /// The inputs of a step from embeddings (n,E).
  Inputs inputs(Context& cx, const Var& embedded, const Tensor& positions) const;
  virtual Output step(Context& cx, const Inputs& inputs, const State& before, const Attend& attend) const = 0;
  virtual const CrossAttention* attention() const { return nullptr; }
  virtual bool feeds() const { return false; }  // whether State::feed is used

 protected:
  RecurrentDecoder(Parameters& p, const Design& d);

  /// h_t of all layers; `gates` (n,G·D) is what the first layer reads.
  std::vector<CellState> advance(Context& cx, Var gates, const Inputs& inputs, const State& before) const;
  Var dropped(Context& cx, const Var& x, const Inputs& inputs) const;

  Linear read_state_;  // (E,D): W_h of the result

 private:
  std::vector<Linear> initial_;
  std::vector<Recurrence> cells_;
  const double dropout_;
};

/// y = sum + W x.
Var add_product(Context& cx, const Var& sum, const Var& x, const Var& weight);

std::unique_ptr<const RecurrentDecoder> make_bahdanau_decoder(Parameters& p, const RecurrentDecoder::Design& d);
std::unique_ptr<const RecurrentDecoder> make_luong_decoder(Parameters& p, const RecurrentDecoder::Design& d);
std::unique_ptr<const RecurrentDecoder> make_decoder_without_attention(Parameters& p,
                                                                       const RecurrentDecoder::Design& d);

}  // namespace dragoman
