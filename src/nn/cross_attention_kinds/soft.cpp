#include "nn/cross_attention_kinds/cross_attention_kind.h"

namespace dragoman {
namespace {

class SoftAttention : public CrossAttentionKind {
 public:
  Var attend(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
             const KeysAndValues& seen) const override {
    return attend_softly(cx, heads, queries, q, seen);
  }
  Var step(Context& cx, const AttentionHeads& heads, const Var&, const Var& q, const Tensor& cache,
           const StepKeys& keys, int64_t longest) const override {
    const int64_t K = heads.key_columns(), V = heads.value_columns();
    return attention_step(cx, q, cache.columns(0, K), cache.columns(K, V), heads.step_shape(keys, longest),
                          heads.score_inputs(cx, q, {}));
  }
  DType cache_type(const Context& cx, DType dtype) const override { return cx.activation_type(dtype); }
};

}  // namespace

// y_i = Σ_j p_ij v_j, p_ij = softmax over j of score(q_i, k_j)
Var attend_softly(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
                  const KeysAndValues& seen) {
  const AttentionDesign& d = heads.design;
  const AttentionShape shape{queries.spans, seen.spans,
                             d.sizes.heads, {.window = d.window, .first = queries.first},
                             heads.score(), cx.dropout(d.dropout, queries.positions)};
  return attention(cx, q, seen.k, seen.v, shape, heads.score_inputs(cx, q, {}), heads.name);
}

std::shared_ptr<const CrossAttentionKind> make_soft_attention() { return std::make_shared<SoftAttention>(); }

}  // namespace dragoman
