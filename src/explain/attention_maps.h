#pragma once
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "data/id_pairs.h"
#include "model/model.h"

namespace dragoman {

/// Encoder self-attention over the source, decoder self-attention, and cross-attention from decoder to source.
enum class AttentionSite { encoder_self, decoder_self, cross };

inline std::span<const EnumName<AttentionSite>> enum_names(AttentionSite) {
  static constexpr EnumName<AttentionSite> names[] = {{AttentionSite::encoder_self, "encoder-self"},
                                                      {AttentionSite::decoder_self, "decoder-self"},
                                                      {AttentionSite::cross, "cross"}};
  return names;
}

/// One number per query and key.
struct HeadMap {
  static constexpr int mean = -1;
  int head = mean;             // counted from 0
  std::vector<float> weights;  // (nq,nk)
};

/// The weights of one attention of a model over one sentence pair.
struct AttentionMap {
  std::string name;  // "decoder.3.cross_attention"
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  int64_t queries = 0, keys = 0;  // nq, nk
  std::vector<HeadMap> heads;
};

/// All attentions of a forced pass over a pair, in the order in which the model computes them. Rows of weights sum
/// to 1. Masked keys have weight 0, and a query whose keys are all masked has a row of zeros.
std::vector<AttentionMap> attentions_of(const Context& cx, Model& model, const IdPair& pair);

/// Each weight times the gradient of Σ log p(target token) with respect to it: to first order, how much the sum would
/// drop if only this weight became 0. The pass is recorded on a tape, so it cannot use packed weights.
std::vector<AttentionMap> gradient_times_attention(const Context& cx, Model& model, const IdPair& pair);

/// Replaces the heads of each map by their mean.
HeadMap mean_of(const AttentionMap& map);

}  // namespace dragoman
