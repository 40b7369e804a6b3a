#pragma once
#include <string>
#include <vector>

#include "backend/cell.h"
#include "base/enum_names.h"
#include "nn/attention_design.h"
#include "nn/norm_kind.h"
#include "tensor/activation.h"

namespace dragoman {

/// Where layer normalisation stands. post: norm(x + f(x)), as in the paper; pre: x + f(norm(x)).
enum class NormPlacement { post, pre };

/// How a model knows the order of words. Added to embeddings: sinusoidal: sines in the first half of the columns,
/// cosines in the second (nn/positions.h: not quite Marian's); interleaved: in turn, as the paper writes them;
/// learned: a table of `max_positions` rows. In self-attention: relative: learned vectors for distances (Shaw et al.
/// 2018); rotary: queries and keys turn (Su et al. 2021); alibi: scores fall with the distance (Press et al. 2022).
/// none: not at all.
enum class Positions { sinusoidal, interleaved, learned, relative, rotary, alibi, none };

/// Whether positions are added to embeddings as sines and cosines.
inline bool sinusoids_added(Positions p) { return p == Positions::sinusoidal || p == Positions::interleaved; }

/// How a decoder looks back at its own output: self_attention; average_attention, where all of the past counts alike
/// (Zhang et al. 2018); or rnn, a recurrent unit in the place of attention (Kim et al. 2019).
enum class Autoregression { self_attention, average_attention, rnn };

/// What the layers of a recurrent model's encoder are: recurrences, read from both sides or from the beginning only, or
/// gated convolutions (Gehring et al. 2017).
enum class EncoderType { bidirectional, unidirectional, convolutional };

/// When a recurrent decoder attends: bahdanau: to the state before, and the step reads what comes of it (Bahdanau et
/// al. 2015); luong: to the new state, and the next step reads what comes of it, "input feeding" (Luong et al. 2015);
/// none: never, so that all it knows of the source is its first state (Sutskever et al. 2014).
enum class RnnAttention { bahdanau, luong, none };

/// One vector of many, which a recurrent decoder begins with: the last state of each direction; the sum or the mean of
/// all; their average by attention to a learned query; or that in two steps, of words to sentences and of sentences,
/// read by a layer of their own, to the line (Yang et al. 2016).
enum class EncoderPooling { last, sum, mean, attention, hierarchical };

/// glorot_uniform: Glorot & Bengio 2010; depth_scaled: the same, divided by √layer (Zhang et al. 2019).
enum class Initialisation { glorot_uniform, depth_scaled };

inline std::span<const EnumName<NormPlacement>> enum_names(NormPlacement) {
  static constexpr EnumName<NormPlacement> names[] = {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}};
  return names;
}
inline std::span<const EnumName<Positions>> enum_names(Positions) {
  static constexpr EnumName<Positions> names[] = {{Positions::sinusoidal, "sinusoidal"},
                                                  {Positions::interleaved, "interleaved"},
                                                  {Positions::learned, "learned"},
                                                  {Positions::relative, "relative"},
                                                  {Positions::rotary, "rotary"},
                                                  {Positions::alibi, "alibi"},
                                                  {Positions::none, "none"}};
  return names;
}
inline std::span<const EnumName<Autoregression>> enum_names(Autoregression) {
  static constexpr EnumName<Autoregression> names[] = {{Autoregression::self_attention, "self-attention"},
                                                       {Autoregression::average_attention, "average-attention"},
                                                       {Autoregression::rnn, "rnn"}};
  return names;
}
inline std::span<const EnumName<EncoderType>> enum_names(EncoderType) {
  static constexpr EnumName<EncoderType> names[] = {{EncoderType::bidirectional, "bidirectional"},
                                                    {EncoderType::unidirectional, "unidirectional"},
                                                    {EncoderType::convolutional, "conv"}};
  return names;
}
inline std::span<const EnumName<RnnAttention>> enum_names(RnnAttention) {
  static constexpr EnumName<RnnAttention> names[] = {
      {RnnAttention::bahdanau, "bahdanau"}, {RnnAttention::luong, "luong"}, {RnnAttention::none, "none"}};
  return names;
}
inline std::span<const EnumName<EncoderPooling>> enum_names(EncoderPooling) {
  static constexpr EnumName<EncoderPooling> names[] = {{EncoderPooling::last, "last"},
                                                       {EncoderPooling::sum, "sum"},
                                                       {EncoderPooling::mean, "mean"},
                                                       {EncoderPooling::attention, "attention"},
                                                       {EncoderPooling::hierarchical, "hierarchical"}};
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
  std::string type = "transformer";  // or "decoder-only", "s2s"
  int dim = 512;                     // D, columns of every activation between sublayers
  int encoder_layers = 6;
  int decoder_layers = 6;
  int heads = 8;            // H
  int key_size = 0;         // K, columns of a head's queries and keys; 0: dim / heads
  int value_size = 0;       // columns of a head's values; 0: as key_size
  int feed_forward = 2048;  // F
  Activation activation = Activation::relu;
  int moe_experts = 0;          // feed-forward networks of a mixture of experts; 0: no layer has one
  int moe_top_k = 2;            // how many of them a piece goes to
  int moe_frequency = 2;        // every so many layers one is a mixture, the last of so many
  double moe_load_loss = 0.01;  // of the loss that shares out pieces evenly
  double moe_capacity = 1.25;   // in training: times an even share of the pieces, what an expert takes; 0: no limit
  NormPlacement norm = NormPlacement::post;
  NormKind norm_kind = NormKind::layer;
  Positions positions = Positions::sinusoidal;
  int max_positions = 1024;     // rows of the table of learned positions, and of location keys
  int relative_positions = 16;  // distances with a vector of their own, on each side (relative)
  AttentionScore attention_score = AttentionScore::scaled_dot;
  Projections attention_projections = Projections::query_key_value;
  HeadNorm attention_norm = HeadNorm::none;
  int attention_rank = 16;   // columns of a head's queries and keys for reduced_rank
  int attention_window = 0;  // self-attention: keys seen on each side; 0: all
  int attention_local = 0;   // cross-attention: the same around the target's own place; 0: all
  AttentionMemory attention_memory = AttentionMemory::full;     // decoder-only: of self-attention
  int attention_block = 256;                                    // local_compressed: pieces of a block
  int attention_stride = 3;                                     // the same: keys that are made into one
  LocalCenter attention_local_center = LocalCenter::monotonic;  // … or around another (s2s)
  AttentionKind attention_choice = AttentionKind::soft;         // s2s
  double attention_reward = 0.1;                                // hard: λ_r, how much the losses after a choice count
  double attention_entropy = 0.002;                             // hard: λ_e, what entropy of the weights is worth
  Autoregression autoregression = Autoregression::self_attention;  // of the decoder
  int average_feed_forward = 2048;                                 // average attention: inner columns of its own layer
  Activation average_activation = Activation::swish;
  bool average_gates = true;
  int rnn_dim = 1024;  // s2s: columns of states, both directions of an encoder together
  Cell encoder_cell = Cell::gru, decoder_cell = Cell::gru;
  EncoderType encoder_type = EncoderType::bidirectional;
  int encoder_kernel = 3;  // convolutional: words that a layer sees together
  RnnAttention rnn_attention = RnnAttention::bahdanau;
  EncoderPooling encoder_pooling = EncoderPooling::mean;
  std::vector<int> sentence_ends;    // hierarchical: source pieces that a sentence ends with; from the vocabulary
  bool reverse_source = false;       // read the source's words from the last to the first
  bool rnn_norm = false;             // layer normalisation of what cells multiply
  double dropout_rnn = 0.1;          // of embeddings, between layers and of what the output layer reads
  bool copies = false;               // pieces of the source may be copied (CopyHead)
  bool learns_source = false;        // decoder-only: the loss of training counts the source's pieces too
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

  /// Columns of what attends and is attended to.
  int width() const { return type == "s2s" ? rnn_dim : dim; }
  int head_keys() const {
    if (attention_score == AttentionScore::reduced_rank) return attention_rank;
    return key_size > 0 ? key_size : width() / heads;
  }
  int head_values() const {
    if (value_size > 0) return value_size;
    return attention_projections == Projections::none ? width() / heads : head_keys();
  }
  bool has_experts(int layer) const { return moe_experts > 0 && (layer + 1) % moe_frequency == 0; }
  double embedding_dropout() const { return dropout_embedding < 0 ? dropout : dropout_embedding; }
  bool ties_source() const { return tied_embeddings_all || tied_embeddings_src; }
  bool ties_output() const { return tied_embeddings_all || tied_embeddings; }
};

}  // namespace dragoman
