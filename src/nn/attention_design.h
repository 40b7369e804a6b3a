#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// The score of a query vector x and a key vector z; a softmax over the keys turns scores into weights. Each kind is a
/// file in nn/scores/, with its formula and its paper (docs/attention.md).
enum class AttentionScore { scaled_dot, dot, additive, bilinear, reduced_rank, location };

inline std::span<const EnumName<AttentionScore>> enum_names(AttentionScore) {
  static constexpr EnumName<AttentionScore> names[] = {
      {AttentionScore::scaled_dot, "scaled-dot"},     {AttentionScore::dot, "dot"},
      {AttentionScore::additive, "additive"},         {AttentionScore::bilinear, "bilinear"},
      {AttentionScore::reduced_rank, "reduced-rank"}, {AttentionScore::location, "location"}};
  return names;
}

/// query_key_value: three projections; key_value: one projection makes the vector that is both key and value; none: the
/// vectors themselves are queries, keys and values.
enum class Projections { query_key_value, key_value, none };

inline std::span<const EnumName<Projections>> enum_names(Projections) {
  static constexpr EnumName<Projections> names[] = {{Projections::query_key_value, "query-key-value"},
                                                    {Projections::key_value, "key-value"},
                                                    {Projections::none, "none"}};
  return names;
}

/// Normalisation of the queries and keys of each head, which bounds the scores by the gains of the norms (Henry et al.
/// 2020, "Query-Key Normalization for Transformers"; in this form Dehghani et al. 2023).
enum class HeadNorm { none, layer, rms };

inline std::span<const EnumName<HeadNorm>> enum_names(HeadNorm) {
  static constexpr EnumName<HeadNorm> names[] = {
      {HeadNorm::none, "none"}, {HeadNorm::layer, "layer"}, {HeadNorm::rms, "rms"}};
  return names;
}

/// Which keys and values a decoder's self-attention keeps of a long text (Liu et al. 2018, section 4.2.4). full: all of
/// them; local_compressed: layers alternate between keys of their own block of the text and keys of the whole text with
/// several compressed into one.
enum class AttentionMemory { full, local_compressed };

inline std::span<const EnumName<AttentionMemory>> enum_names(AttentionMemory) {
  static constexpr EnumName<AttentionMemory> names[] = {{AttentionMemory::full, "full"},
                                                        {AttentionMemory::local_compressed, "local-compressed"}};
  return names;
}

/// The same for one layer; each kind is a file in nn/memories/.
struct MemoryShape {
  int block = 0;   // positions of a block; a query sees the keys of its own block. 0: the whole sentence
  int stride = 1;  // keys that are compressed into one
};

/// The centre of the window of local attention (Luong et al. 2015, section 3.2). monotonic: the position of the target
/// token ("local-m"); predictive: a position that is predicted from the decoder's state, with a Gaussian that
/// multiplies the weights ("local-p", nn/cross_attention_kinds/predictive.cpp).
enum class LocalCenter { monotonic, predictive };

inline std::span<const EnumName<LocalCenter>> enum_names(LocalCenter) {
  static constexpr EnumName<LocalCenter> names[] = {{LocalCenter::monotonic, "monotonic"},
                                                    {LocalCenter::predictive, "predictive"}};
  return names;
}

/// How a query reads the values. soft: their mean by the attention weights; hard: one value, drawn by the weights in
/// training and the value of the largest weight otherwise (Xu et al. 2015, section 4.1).
enum class AttentionKind { soft, hard };

inline std::span<const EnumName<AttentionKind>> enum_names(AttentionKind) {
  static constexpr EnumName<AttentionKind> names[] = {{AttentionKind::soft, "soft"}, {AttentionKind::hard, "hard"}};
  return names;
}

/// The number of heads, and the sizes of the keys and values of one head.
struct HeadSizes {
  int heads, key, value;
};

/// The options of one multi-head attention.
struct AttentionDesign {
  HeadSizes sizes;
  AttentionScore score = AttentionScore::scaled_dot;
  Projections projections = Projections::query_key_value;
  HeadNorm norm = HeadNorm::none;
  int window = -1;                              // keys that a query sees on each side; -1: all
  MemoryShape memory = {};                      // only self-attention
  LocalCenter center = LocalCenter::monotonic;  // of the window
  AttentionKind choice = AttentionKind::soft;
  double reward = 0, entropy = 0;  // hard: λ_r and λ_e (nn/cross_attention_kinds/hard.cpp)
  int relative = 0;                // R: learned vectors for distances up to ±R (Shaw et al. 2018); 0: none
  bool relative_values = false;    // they have vectors for values too (the same, eq. 3)
  int locations = 0;               // rows of the table of the location score
  bool projects_result = true;     // to the size of the model
  double dropout = 0;              // of the attention weights
  double gain = 1;                 // of the initial projections
};

}  // namespace dragoman
