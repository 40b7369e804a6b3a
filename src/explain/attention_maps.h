#pragma once
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "data/id_pairs.h"
#include "model/model.h"

namespace dragoman {

/// Who looks at whom: source pieces at each other, what the decoder has read at itself, the decoder at the source.
enum class AttentionSite { encoder_self, decoder_self, cross };

inline std::span<const EnumName<AttentionSite>> enum_names(AttentionSite) {
  static constexpr EnumName<AttentionSite> names[] = {{AttentionSite::encoder_self, "encoder-self"},
                                                      {AttentionSite::decoder_self, "decoder-self"},
                                                      {AttentionSite::cross, "cross"}};
  return names;
}

/// One number for each query and key.
struct HeadMap {
  static constexpr int mean = -1;
  int head = mean;             // counted from 0
  std::vector<float> weights;  // (nq,nk)
};

/// What one attention of a model did over one sentence pair.
struct AttentionMap {
  std::string name;  // "decoder.3.cross_attention"
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  int64_t queries = 0, keys = 0;  // nq, nk
  std::vector<HeadMap> heads;
};

/// All attentions of a forced pass over a pair, in the order in which the model computes them. Rows of weights sum to
/// 1; a key that a query may not see has 0, and a query that may see none has a row of 0.
std::vector<AttentionMap> attentions_of(const Context& cx, Model& model, const IdPair& pair);

/// Each weight times the gradient of Σ log p(target piece) with respect to it: to first order, what the sum would lose
/// if the weight were 0 and all else stayed. The pass is recorded, so packed weights are of no use to it.
std::vector<AttentionMap> gradient_times_attention(const Context& cx, Model& model, const IdPair& pair);

/// The mean of the heads that are there.
HeadMap mean_of(const AttentionMap& map);

}  // namespace dragoman
