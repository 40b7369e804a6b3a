#pragma once
#include "model/batch.h"
#include "model/config.h"
#include "nn/cross_attention.h"

namespace dragoman {

/// The links of a batch, with the weights of their losses: those of a target token together have the weight of its
/// sentence, times Batch::links_weight (Chen et al. 2016). Empty if there are none.
std::vector<AttentionLink> attention_links(const Batch& batch);

/// The configuration of a model whose attention learns links: alignments are then those of the first head. Error if
/// attention of this kind cannot learn them.
ModelConfig with_guided_alignment(ModelConfig config);

}  // namespace dragoman
