#pragma once
#include <vector>

#include "backend/cell.h"
#include "base/enum_names.h"
#include "dragoman/search_rule.h"
#include "nn/attention_design.h"
#include "nn/norm_kind.h"
#include "tensor/activation.h"

namespace dragoman {

/// transformer: encoder and decoder (Vaswani et al. 2017); decoder_only: one stack that reads source and target as one
/// sequence (Liu et al. 2018); s2s: recurrent, with attention (Bahdanau et al. 2015) or without (Sutskever et al.
/// 2014).
enum class ModelType { transformer, decoder_only, s2s };

/// Where layer normalisation stands. post: norm(x + f(x)), as in the paper; pre: x + f(norm(x)).
enum class NormPlacement { post, pre };

/// How a model represents the order of words. Added to embeddings: sinusoidal, sines in the first half of the dims and
/// cosines in the second; interleaved, sines and cosines alternate, as in the paper; learned, a table of
/// `max_positions` rows. In self-attention: relative, learned vectors for distances (Shaw et al. 2018); rotary, queries
/// and keys are rotated (Su et al. 2021); relative_bias, learned biases of scores for ranges of distances (Raffel et
/// al. 2020); alibi, scores fall with the distance (Press et al. 2022). none: no positions.
enum class Positions { sinusoidal, interleaved, learned, relative, rotary, relative_bias, alibi, none };

/// Whether a table of parameters represents the positions.
inline bool has_position_table(Positions p) { return p == Positions::learned || p == Positions::relative_bias; }

/// Whether positions are added to embeddings as sines and cosines.
inline bool sinusoids_added(Positions p) { return p == Positions::sinusoidal || p == Positions::interleaved; }

/// The wavelengths of sinusoids of D dims. paper: 10000^(2i/D), i from 0 (Vaswani et al. 2017), also Hugging Face's
/// Marian class; tensor2tensor: 10000^(i/(D/2 - 1)), also Marian, fairseq and M2M100.
enum class PositionSpacing { paper, tensor2tensor };

/// Whether the outputs of encoder and decoder are normalised once more. automatic: only with pre-norm, where they are
/// sums that have not been normalised.
enum class FinalNorm { automatic, always, never };

/// How a decoder layer reads the target tokens before the current one: by self_attention; by average_attention, where
/// all of them have the same weight (Zhang et al. 2018); or by rnn, a recurrent unit instead of attention (Kim et al.
/// 2019).
enum class Autoregression { self_attention, average_attention, rnn };

/// The layers of a recurrent model's encoder: recurrences in both directions, recurrences from the beginning only, or
/// gated convolutions (Gehring et al. 2017).
enum class EncoderType { bidirectional, unidirectional, convolutional };

/// When a recurrent decoder attends. bahdanau: the previous state is the query, and the current step reads the result
/// (Bahdanau et al. 2015). luong: the new state is the query, and the next step reads the result, "input feeding"
/// (Luong et al. 2015). none: never; the decoder knows the source only from its initial state (Sutskever et al. 2014).
enum class RnnAttention { bahdanau, luong, none };

/// How the states of an encoder become the vector that a recurrent decoder begins with: the last state of each
/// direction; the sum or the mean of all states; their average by attention with a learned query; or hierarchical
/// attention, first over the words of each sentence, then over the sentences, which have a layer of their own (Yang et
/// al. 2016).
enum class EncoderPooling { last, sum, mean, attention, hierarchical };

/// glorot_uniform: Glorot & Bengio 2010; depth_scaled: the same, divided by √layer (Zhang et al. 2019).
enum class Initialisation { glorot_uniform, depth_scaled };

/// The decoder's input before the first token: the embedding of a special piece, or a vector of zeros, as in Marian.
enum class DecoderStart { bos, eos, pad, zero };

/// Position of the piece that names the language of the source: none, before the text, or after the end of the
/// sentence.
enum class SourceLanguage { none, first, last };

/// Position of the piece that names the target language: none, first in the source (OPUS-MT), or first in the
/// translation (M2M100), where it is forced and does not count.
enum class TargetLanguage { none, source, target };

inline std::span<const EnumName<ModelType>> enum_names(ModelType) {
  static constexpr EnumName<ModelType> names[] = {
      {ModelType::transformer, "transformer"}, {ModelType::decoder_only, "decoder-only"}, {ModelType::s2s, "s2s"}};
  return names;
}
inline std::span<const EnumName<NormPlacement>> enum_names(NormPlacement) {
  static constexpr EnumName<NormPlacement> names[] = {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}};
  return names;
}
inline std::span<const EnumName<Positions>> enum_names(Positions) {
  static constexpr EnumName<Positions> names[] = {
      {Positions::sinusoidal, "sinusoidal"}, {Positions::interleaved, "interleaved"},
      {Positions::learned, "learned"},       {Positions::relative, "relative"},
      {Positions::rotary, "rotary"},         {Positions::relative_bias, "relative-bias"},
      {Positions::alibi, "alibi"},           {Positions::none, "none"}};
  return names;
}
inline std::span<const EnumName<PositionSpacing>> enum_names(PositionSpacing) {
  static constexpr EnumName<PositionSpacing> names[] = {{PositionSpacing::paper, "paper"},
                                                        {PositionSpacing::tensor2tensor, "tensor2tensor"}};
  return names;
}
inline std::span<const EnumName<FinalNorm>> enum_names(FinalNorm) {
  static constexpr EnumName<FinalNorm> names[] = {
      {FinalNorm::automatic, "auto"}, {FinalNorm::always, "always"}, {FinalNorm::never, "never"}};
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

/// Ids of the pieces that are not text, the same in both vocabularies; -1: none. They come from the vocabulary.
struct SpecialIds {
  int unk = 0;
  int bos = 1;
  int eos = 2;  // ends every sentence; required
  int pad = -1;

  bool operator==(const SpecialIds&) const = default;
  bool contains(int id) const { return id == unk || id == bos || id == eos || id == pad; }
};

inline std::span<const EnumName<DecoderStart>> enum_names(DecoderStart) {
  static constexpr EnumName<DecoderStart> names[] = {
      {DecoderStart::bos, "bos"}, {DecoderStart::eos, "eos"}, {DecoderStart::pad, "pad"}, {DecoderStart::zero, "zero"}};
  return names;
}

inline std::span<const EnumName<SourceLanguage>> enum_names(SourceLanguage) {
  static constexpr EnumName<SourceLanguage> names[] = {
      {SourceLanguage::none, "none"}, {SourceLanguage::first, "first"}, {SourceLanguage::last, "last"}};
  return names;
}
inline std::span<const EnumName<TargetLanguage>> enum_names(TargetLanguage) {
  static constexpr EnumName<TargetLanguage> names[] = {
      {TargetLanguage::none, "none"}, {TargetLanguage::source, "source"}, {TargetLanguage::target, "target"}};
  return names;
}
inline std::span<const EnumName<SearchRule>> enum_names(SearchRule) {
  static constexpr EnumName<SearchRule> names[] = {
      {SearchRule::automatic, "auto"},          {SearchRule::marian, "marian"},
      {SearchRule::huggingface, "huggingface"}, {SearchRule::huggingface_early, "huggingface-early"},
      {SearchRule::fairseq, "fairseq"},         {SearchRule::ctranslate2, "ctranslate2"}};
  return names;
}

/// The special pieces around a sentence, and the search of the program that a model comes from. Only models of other
/// programs differ from the defaults.
struct GenerationConfig {
  bool source_bos = false;  // a source begins with bos
  bool source_eos = true;   // … and ends with eos
  SourceLanguage source_language = SourceLanguage::none;
  TargetLanguage target_language = TargetLanguage::none;
  int source_language_id = -1;  // the pieces that name the languages; -1: unknown
  int target_language_id = -1;
  int target_language_blank_id = -1;  // a piece before that of TargetLanguage::source, ▁; -1: none
  std::vector<int> suppressed;        // pieces that are never generated, besides bos, pad and unk
  SearchRule search_rule = SearchRule::marian;
};

struct AttentionConfig {
  AttentionScore score = AttentionScore::scaled_dot;
  Projections projections = Projections::query_key_value;
  HeadNorm norm = HeadNorm::none;
  bool projects_result = true;  // false: heads are only concatenated
  int rank = 16;                // reduced_rank: size of a head's queries and keys
  int window = 0;               // self-attention: keys seen on each side; 0: all
  int local = 0;                // cross-attention: keys on each side of the target's position; 0: all
  LocalCenter local_center = LocalCenter::monotonic;  // … or around a predicted position (s2s)
  AttentionMemory memory = AttentionMemory::full;     // decoder-only: keys and values that self-attention keeps
  int block = 256;                                    // local_compressed: tokens of a block
  int stride = 3;                                     // local_compressed: keys that are compressed into one
  AttentionKind choice = AttentionKind::soft;         // s2s
  double reward = 0.1;                                // hard: λ_r, weight of the reward
  double entropy = 0.002;                             // hard: λ_e, weight of the entropy of the attention weights
};

/// The cross-attention that gives word alignments, and that guided alignment trains.
struct AlignmentConfig {
  int layer = 0;  // of the decoder, from 1; 0: the last
  int heads = 0;  // the mean of so many heads, from the first; 0: of all

  /// The layer, from 0.
  int layer_of(int decoder_layers) const { return (layer > 0 ? layer : decoder_layers) - 1; }
};

/// A mixture of experts instead of feed-forward layers (Shazeer et al. 2017, Fedus et al. 2021).
struct ExpertsConfig {
  int count = 0;            // feed-forward networks of such a layer; 0: no layer has experts
  int top_k = 2;            // experts that a token is sent to
  int frequency = 2;        // the last of every `frequency` layers has experts
  double load_loss = 0.01;  // weight of the loss that balances the load
  double capacity = 1.25;   // in training: most tokens that an expert takes, relative to an even share; 0: no limit
};

/// The feed-forward layer and the gates of average attention (Zhang et al. 2018).
struct AverageAttentionConfig {
  int feed_forward = 2048;  // inner size
  Activation activation = Activation::swish;
  bool gates = true;
};

struct RnnEncoderConfig {
  EncoderType type = EncoderType::bidirectional;
  Cell cell = Cell::gru;
  int kernel = 3;                                 // convolutional: positions in the window of a layer
  EncoderPooling pooling = EncoderPooling::mean;  // of the decoder's initial state
  std::vector<int> sentence_ends;  // hierarchical: source pieces that end a sentence; from the vocabulary
  bool reverse = false;            // read the source from the last token to the first
};

struct RnnDecoderConfig {
  Cell cell = Cell::gru;
  RnnAttention attention = RnnAttention::bahdanau;
};

/// Recurrent models, s2s.
struct RnnConfig {
  int dim = 1024;     // size of states, both directions of an encoder together
  bool norm = false;  // layer normalisation inside cells
  RnnEncoderConfig encoder;
  RnnDecoderConfig decoder;
};

struct EmbeddingsConfig {
  bool tied_all = true;      // one matrix for source, target and output; implies the other two
  bool tied_output = false;  // target embedding = output layer
  bool tied_source = false;  // source embedding = target embedding

  double scale = 0;          // of embeddings before positions are added; 0: √D
  bool output_bias = false;  // of logits

  bool ties_source() const { return tied_all || tied_source; }
  bool ties_output() const { return tied_all || tied_output; }
};

/// Probabilities.
struct DropoutConfig {
  double sublayer = 0.1;    // of every sublayer's output
  double attention = 0;     // of the attention weights
  double activation = 0;    // of the inner activations of feed-forward layers
  double embedding = -1;    // of embeddings plus positions; -1: as `sublayer`
  double rnn = 0.1;         // s2s: of embeddings, between layers and of what the output layer reads
  double source_words = 0;  // of whole source tokens: their embeddings are zero
  double target_words = 0;  // of whole target tokens that the decoder reads

  double of_embeddings() const { return embedding < 0 ? sublayer : embedding; }
};

/// Everything that determines a model's parameters and its function; stored in the model file. The defaults are the
/// base model of "Attention Is All You Need" (Vaswani et al. 2017, Table 3). The tables in model/*_fields.cpp describe
/// each field for files, the command line and the docs; model/validate.h checks combinations.
struct ModelConfig {
  ModelType type = ModelType::transformer;
  int dim = 512;  // D, size of embeddings and of every sublayer's output
  int encoder_layers = 6;
  int decoder_layers = 6;
  int heads = 8;                 // H
  int decoder_heads = 0;         // of decoder layers; 0: as `heads`
  int key_size = 0;              // K, size of a head's queries and keys; 0: dim / heads
  int value_size = 0;            // size of a head's values; 0: as key_size
  int feed_forward = 2048;       // F
  int decoder_feed_forward = 0;  // of decoder layers; 0: as `feed_forward`
  Activation activation = Activation::relu;
  bool gated_feed_forward = false;  // the activation multiplies a second product (Shazeer 2020)
  ExpertsConfig experts;
  NormPlacement norm = NormPlacement::post;
  NormKind norm_kind = NormKind::layer;
  double norm_epsilon = 1e-5;  // added to the variance, or to the mean square
  FinalNorm final_norm = FinalNorm::automatic;
  bool embedding_norm = false;  // normalises embeddings plus positions, before dropout
  Positions positions = Positions::sinusoidal;
  PositionSpacing position_spacing = PositionSpacing::paper;  // sinusoids
  int first_position = 0;                                     // sinusoids: position of a sentence's first token
  int max_positions = 1024;         // rows of the table of learned positions, and of location keys
  int relative_positions = 16;      // distances with a vector of their own, on each side (relative)
  bool relative_values = false;     // they have vectors for values too (relative)
  int relative_buckets = 32;        // ranges of distances with a bias of their own (relative_bias)
  int relative_max_distance = 128;  // from which on all distances share a bias (relative_bias)
  AttentionConfig attention;
  AlignmentConfig alignment;
  Autoregression autoregression = Autoregression::self_attention;  // of the decoder
  AverageAttentionConfig average;
  // For each decoder layer the layer, from 1, whose weights it uses; empty: its own.
  std::vector<int> tied_decoder_layers;
  RnnConfig rnn;
  bool copies = false;         // tokens of the source may be copied (CopyHead)
  bool learns_source = false;  // decoder-only: the training loss counts the source's tokens too
  EmbeddingsConfig embeddings;
  Initialisation initialisation = Initialisation::glorot_uniform;
  DropoutConfig dropout;
  int source_vocabulary = 0;  // V of each side; filled in from the vocabularies
  int target_vocabulary = 0;
  SpecialIds special;
  DecoderStart decoder_start = DecoderStart::bos;
  GenerationConfig generation;

  /// The configuration with the number of heads and the inner size of the decoder layers.
  ModelConfig decoder_side() const {
    ModelConfig side = *this;
    if (decoder_heads > 0) side.heads = decoder_heads;
    if (decoder_feed_forward > 0) side.feed_forward = decoder_feed_forward;
    return side;
  }
  /// The decoder layer, from 0, whose weights this layer uses.
  int weights_of_decoder_layer(int layer) const {
    return tied_decoder_layers.empty() ? layer : tied_decoder_layers[size_t(layer)] - 1;
  }
  bool has_final_norm() const {
    return final_norm == FinalNorm::always || (final_norm == FinalNorm::automatic && norm == NormPlacement::pre);
  }
  bool has_encoder() const { return type != ModelType::decoder_only; }
  bool has_cross_attention() const {
    return has_encoder() && (type != ModelType::s2s || rnn.decoder.attention != RnnAttention::none);
  }
  /// Size of the vectors that attend and are attended to.
  int width() const { return type == ModelType::s2s ? rnn.dim : dim; }
  int head_keys() const {
    if (attention.score == AttentionScore::reduced_rank) return attention.rank;
    return key_size > 0 ? key_size : width() / heads;
  }
  int head_values() const {
    if (value_size > 0) return value_size;
    return attention.projections == Projections::none ? width() / heads : head_keys();
  }
  /// The id of the decoder's first input; -1: a vector of zeros (Embedding, backend/embedding.h).
  int first_token() const {
    switch (decoder_start) {
      case DecoderStart::bos:
        return special.bos;
      case DecoderStart::eos:
        return special.eos;
      case DecoderStart::pad:
        return special.pad;
      case DecoderStart::zero:
        break;
    }
    return -1;
  }
  /// Whether a layer has experts. For a decoder layer, give weights_of_decoder_layer().
  bool has_experts(int layer) const { return experts.count > 0 && (layer + 1) % experts.frequency == 0; }
  int layers() const { return (has_encoder() ? encoder_layers : 0) + decoder_layers; }  // of both sides
  int layers_with_experts() const {
    int count = 0;
    for (int l = 0; l < layers() - decoder_layers; ++l) count += has_experts(l);
    for (int l = 0; l < decoder_layers; ++l) count += has_experts(weights_of_decoder_layer(l));
    return count;
  }
};

}  // namespace dragoman
