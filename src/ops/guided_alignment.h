#pragma once
#include <vector>

#include "autodiff/context.h"
#include "tensor/spans.h"

namespace dragoman {

struct AttentionShape;

/// What the weights of an attention shall be: a query attends to a key of its sentence. No link occurs twice.
struct AttentionLink {
  int32_t query, key;  // rows of q and k
  float weight;        // in the loss
};

/// Guided alignment (Chen et al. 2016; Garg et al. 2019, "Jointly Learning to Align and Translate with Transformer
/// Models", section 4.2): the cross-entropy of given links and attention weights of one head,
///   loss_i = -Σ w log a_ij  over the links (i,j,w) of query i,  a_i = softmax_j(score(q_i, k_j)).
/// `shape` is that of an attention of one head; links to keys that the query does not see are left out. Scores that are
/// dot products need no (Nq,Nk) matrix; additive ones are computed for some thousands of pairs at a time.
/// q (Nq,K)  k (Nk,K)  →  (Nq,1).  Under a tape, this call itself writes the gradients of the sum of losses, as
/// linear_cross_entropy does.  `vector`: of an additive score, at least K elements, of which the first K count.
Tensor guided_alignment_loss(Context& cx, const Var& q, const Var& k, const AttentionShape& shape,
                             const std::vector<AttentionLink>& links, const Var& vector = {});

}  // namespace dragoman
