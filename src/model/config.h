#pragma once
#include <string>

#include "base/enum_names.h"
#include "tensor/activation.h"

namespace dragoman {

/// Where layer normalisation stands. post: norm(x + f(x)), as in the paper; pre: x + f(norm(x)).
enum class NormPlace { post, pre };

/// sinusoidal: sines in the first half of the columns, cosines in the second (tensor2tensor, Marian);
/// interleaved: sine and cosine in turn, as the paper writes them; learned: a table of `max_positions` rows.
enum class Positions { sinusoidal, interleaved, learned };

/// glorot_uniform: Glorot & Bengio 2010; depth_scaled: the same, divided by √layer (Zhang et al. 2019).
enum class Initialisation { glorot_uniform, depth_scaled };

inline std::span<const EnumName<NormPlace>> enum_names(NormPlace) {
  static constexpr EnumName<NormPlace> names[] = {{NormPlace::post, "post"}, {NormPlace::pre, "pre"}};
  return names;
}
inline std::span<const EnumName<Positions>> enum_names(Positions) {
  static constexpr EnumName<Positions> names[] = {
      {Positions::sinusoidal, "sinusoidal"}, {Positions::interleaved, "interleaved"}, {Positions::learned, "learned"}};
  return names;
}
inline std::span<const EnumName<Initialisation>> enum_names(Initialisation) {
  static constexpr EnumName<Initialisation> names[] = {{Initialisation::glorot_uniform, "glorot-uniform"},
                                                       {Initialisation::depth_scaled, "depth-scaled"}};
  return names;
}

/// All that decides a model's parameters and its function; stored in the model file. The defaults are the base model
/// of "Attention Is All You Need" (Vaswani et al. 2017, Table 3).
struct ModelConfig {
  std::string type = "transformer";
  int dim = 512;  // D, columns of every activation between sublayers
  int encoder_layers = 6;
  int decoder_layers = 6;
  int heads = 8;            // H
  int key_size = 0;         // K, columns of a head's queries and keys; 0: dim / heads
  int value_size = 0;       // columns of a head's values; 0: as key_size
  int feed_forward = 2048;  // F
  Activation activation = Activation::relu;
  NormPlace norm = NormPlace::post;
  Positions positions = Positions::sinusoidal;
  int max_positions = 1024;          // rows of the table of learned positions
  bool tied_embeddings_all = true;   // one matrix for source, target and output; implies the other two
  bool tied_embeddings = false;      // target embedding = output layer
  bool tied_embeddings_src = false;  // source embedding = target embedding
  Initialisation initialisation = Initialisation::glorot_uniform;
  double dropout = 0.1;           // of every sublayer's output
  double dropout_attention = 0;   // of the attention weights
  double dropout_activation = 0;  // of the feed-forward layer's inner columns
  double dropout_embedding = -1;  // of embeddings plus positions; -1: as `dropout`
  int source_vocabulary = 0;      // V of each side; filled in from the vocabularies
  int target_vocabulary = 0;

  int head_keys() const { return key_size > 0 ? key_size : dim / heads; }
  int head_values() const { return value_size > 0 ? value_size : head_keys(); }
  double embedding_dropout() const { return dropout_embedding < 0 ? dropout : dropout_embedding; }
  bool ties_source() const { return tied_embeddings_all || tied_embeddings_src; }
  bool ties_output() const { return tied_embeddings_all || tied_embeddings; }
};

}  // namespace dragoman
