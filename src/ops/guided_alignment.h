#pragma once
#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

struct AttentionShape;

/// What the weights of an attention shall be: links from queries to keys, each at most once.
struct AttentionLinks {
  Tensor queries;  // (M) int32: rows
  Tensor keys;     // (M) int32: positions in the sentence of the query
  Tensor weights;  // (M) f32
};

/// Guided alignment (Chen et al. 2016; Garg et al. 2019, "Jointly Learning to Align and Translate with Transformer
/// Models", section 4.2): the cross-entropy of given links and attention weights,
///   loss_i = -weight_i · log(a_i + 1e-6),  a = softmax(score(q, k)), of one head.
/// `shape` is that of an attention, with a score that is a dot product.  q (Nq,K)  k (Nk,K)  →  (M) stat type.
/// Under a tape, this call itself writes the gradients of the sum of losses, as linear_cross_entropy does.
Tensor guided_alignment_loss(Context& cx, const Var& q, const Var& k, const AttentionShape& shape,
                             const AttentionLinks& links);

}  // namespace dragoman
