#pragma once
#include <string>
#include <vector>

#include "data/id_pairs.h"
#include "explain/options.h"
#include "model/model.h"

namespace dragoman {

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
