#pragma once
#include "backend/attention_shape.h"
#include "base/enum_names.h"

namespace dragoman {

/// The score of a query vector x and a key vector z, whose softmax over the keys says how much of each is taken
/// (docs/attention.md). With projections q = W_q x and k = W_k z:
/// scaled_dot: q·k / √K (Vaswani et al. 2017); dot: q·k (Luong et al. 2015); additive: w · tanh(q + k) (Bahdanau et al.
/// 2015; Luong's "concat"); location: q · l_j with a learned vector l_j for each position j (Luong's "location").
/// Without projections of keys: bilinear: xᵀ W z (Luong's "general"); reduced_rank: (U x) · (V z), few rows in U and V.
enum class AttentionScore { scaled_dot, dot, additive, bilinear, reduced_rank, location };

inline std::span<const EnumName<AttentionScore>> enum_names(AttentionScore) {
  static constexpr EnumName<AttentionScore> names[] = {
      {AttentionScore::scaled_dot, "scaled-dot"},     {AttentionScore::dot, "dot"},
      {AttentionScore::additive, "additive"},         {AttentionScore::bilinear, "bilinear"},
      {AttentionScore::reduced_rank, "reduced-rank"}, {AttentionScore::location, "location"}};
  return names;
}

/// query_key_value: three projections; key_value: of what is attended to, one vector is key and value at once;
/// none: vectors are queries, keys and values as they are.
enum class Projections { query_key_value, key_value, none };

inline std::span<const EnumName<Projections>> enum_names(Projections) {
  static constexpr EnumName<Projections> names[] = {{Projections::query_key_value, "query-key-value"},
                                                    {Projections::key_value, "key-value"},
                                                    {Projections::none, "none"}};
  return names;
}

/// What queries and keys of each head are normalised by before they meet, so that no score can outgrow what the norms'
/// gains allow (Henry et al. 2020, "Query-Key Normalization for Transformers"; in this form Dehghani et al. 2023).
enum class HeadNorm { none, layer, rms };

inline std::span<const EnumName<HeadNorm>> enum_names(HeadNorm) {
  static constexpr EnumName<HeadNorm> names[] = {
      {HeadNorm::none, "none"}, {HeadNorm::layer, "layer"}, {HeadNorm::rms, "rms"}};
  return names;
}

/// What self-attention of a decoder keeps of a long past (Liu et al. 2018, section 4.2.4): full: all keys and values;
/// local_compressed: in turn, layers that see their own block of the text only, and layers that see all of it, several
/// keys made into one.
enum class AttentionMemory { full, local_compressed };

inline std::span<const EnumName<AttentionMemory>> enum_names(AttentionMemory) {
  static constexpr EnumName<AttentionMemory> names[] = {{AttentionMemory::full, "full"},
                                                        {AttentionMemory::local_compressed, "local-compressed"}};
  return names;
}

/// The same of one layer.
struct MemoryShape {
  int block = 0;   // positions of a block, whose keys a query of it sees; 0: those of the whole sentence
  int stride = 1;  // keys that are made into one

  bool whole() const { return block == 0 && stride == 1; }
};

/// Where the window of local attention has its middle (Luong et al. 2015, section 3.2). monotonic: at the target's own
/// position, as if both languages ran in step ("local-m"); predictive: at S·σ(v·tanh(W h)) of a source of S pieces,
/// where the decoder's state h says, and a Gaussian multiplies the weights ("local-p").
enum class LocalCenter { monotonic, predictive };

inline std::span<const EnumName<LocalCenter>> enum_names(LocalCenter) {
  static constexpr EnumName<LocalCenter> names[] = {{LocalCenter::monotonic, "monotonic"},
                                                    {LocalCenter::predictive, "predictive"}};
  return names;
}

/// What a query takes of the values: soft: their mean by the weights; hard: one of them, drawn by the weights in
/// training and the one of the largest otherwise (Xu et al. 2015, section 4.1).
enum class AttentionKind { soft, hard };

inline std::span<const EnumName<AttentionKind>> enum_names(AttentionKind) {
  static constexpr EnumName<AttentionKind> names[] = {{AttentionKind::soft, "soft"}, {AttentionKind::hard, "hard"}};
  return names;
}

/// Columns of one head.
struct HeadSizes {
  int heads, key, value;
};

/// What multi-head attention is made of.
struct AttentionDesign {
  HeadSizes sizes;
  AttentionScore score = AttentionScore::scaled_dot;
  Projections projections = Projections::query_key_value;
  HeadNorm norm = HeadNorm::none;
  int window = -1;                              // keys that a query sees on each side; -1: all
  MemoryShape memory = {};                      // self-attention alone
  LocalCenter center = LocalCenter::monotonic;  // of the window
  AttentionKind choice = AttentionKind::soft;
  int relative = 0;             // R: learned vectors for distances up to ±R (Shaw et al. 2018); 0: none
  int locations = 0;            // positions that `location` knows
  bool projects_result = true;  // back to the width of the model
  double dropout = 0;           // of the attention weights
  double gain = 1;              // of the initial projections

  bool projects_query() const {
    return projections != Projections::none || score == AttentionScore::bilinear ||
           score == AttentionScore::reduced_rank || score == AttentionScore::additive;
  }
  bool projects_key() const {  // by itself: not with the value's projection
    if (score == AttentionScore::location) return false;
    return projections == Projections::query_key_value ||
           (projections == Projections::none &&
            (score == AttentionScore::reduced_rank || score == AttentionScore::additive));
  }
  bool projects_value() const { return projections != Projections::none; }
  Score kernel_score() const {
    if (score == AttentionScore::additive) return Score::additive;
    const bool scaled = score == AttentionScore::scaled_dot;
    return scaled ? Score::scaled_dot : Score::dot;
  }
};

}  // namespace dragoman
