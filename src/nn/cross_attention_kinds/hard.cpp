#include "backend/backend.h"
#include "nn/cross_attention_kinds/cross_attention_kind.h"
#include "ops/hard_attention.h"

namespace dragoman {
namespace {

// Hard attention (Xu et al. 2015, section 4.1), for queries that are sentences of their own: y_t = v_s with one key s,
// drawn from p_t = softmax(score(q_t, k)). No gradient goes through the draw. REINFORCE (Williams 1992) adds
//   λ_r (Σ_u≥t (L_u - b)) ∇ log p_t(s)  -  λ_e ∇ H(p_t)
// with the losses L of the target tokens from t on, a baseline b (nn/baseline.h) and the entropy H.
class HardAttention : public CrossAttentionKind {
 public:
  HardAttention(double reward, double entropy) : reward_(reward), entropy_(entropy) {}

  Var attend(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
             const KeysAndValues& seen) const override {
    const AttentionShape shape{.queries = queries.spans, .keys = seen.spans, .score = heads.score()};
    const HardChoice choice{cx.dropout(1, queries.positions),
                            queries.signal};  // numbered like a dropout: one draw per row
    return hard_attention(cx, q, seen.k, seen.v, shape, heads.score_inputs(cx, q, {}), choice);
  }

  Tensor learning_signal(Context& cx, int64_t rows, DType dtype) const override {
    if (!cx.tape) return {};
    const Tensor signal = cx.save({rows, 2}, dtype);
    cx.backend.fill(signal, 0);
    return signal;
  }
  void reward(Context& cx, const SignalledLoss& o) const override {
    if (!o.signal || !cx.training) return;
    cx.backend.reinforce_signal(
        Backend::ReinforceSignal{o.signal, o.loss, o.weights, o.rows, o.spans, o.baseline.value, reward_, entropy_});
  }
  bool learns_from_baseline() const override { return true; }

 private:
  const double reward_, entropy_;  // λ_r, λ_e
};

}  // namespace

std::shared_ptr<const CrossAttentionKind> make_hard_attention(const AttentionDesign& d) {
  return std::make_shared<HardAttention>(d.reward, d.entropy);
}

}  // namespace dragoman
