#include "backend/backend.h"
#include "nn/cross_attention_kinds/cross_attention_kind.h"
#include "ops/linear.h"
#include "ops/local_attention.h"
#include "ops/recurrent.h"
#include "ops/rows.h"

namespace dragoman {
namespace {

// For each query, a copy of the key rows of its sentence.
struct RepeatedKeys {
  Tensor rows;  // int32
  Spans spans;
};

RepeatedKeys keys_of_each_query(const Spans& queries, const Spans& keys) {
  std::vector<int32_t> rows, lengths;
  for (int s = 0; s < queries.sentences(); ++s)
    for (int64_t i = queries[s].begin; i < queries[s].end; ++i) {
      for (int64_t n = keys[s].begin; n < keys[s].end; ++n) rows.push_back(int32_t(n));
      lengths.push_back(int32_t(keys[s].end - keys[s].begin));
    }
  const auto N = int64_t(rows.size());
  return {int_tensor(std::move(rows), {N}), Spans::of_lengths(lengths)};
}

// Local attention with a predicted centre (Luong et al. 2015, section 3.2, "local-p"), for queries that are sentences
// of their own: p = S·σ(v·tanh(W h)), a position in a source of S tokens (equation 9); weights are multiplied by a
// Gaussian around p (equation 10).
class PredictiveAttention : public CrossAttentionKind {
 public:
  PredictiveAttention(Var inner, Var outer) : inner_(std::move(inner)), outer_(std::move(outer)) {}

  // The observer sees the weights after the Gaussian.
  Var attend(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
             const KeysAndValues& seen) const override {
    const AttentionDesign& d = heads.design;
    const AttentionShape shape{.queries = queries.spans,
                               .keys = seen.spans,
                               .heads = d.sizes.heads,
                               .score = heads.score(),
                               .dropout = cx.dropout(d.dropout, queries.positions)};
    const Var p = center(cx, queries.x, seen.spans);
    const GaussianWindow window = gaussian_window(cx, seen.v, p, seen.spans, d.window);
    const AttentionObserver* observer = cx.observer;
    const AttentionObserver after_gaussian = [&](const ObservedAttention& a) {
      multiply(a.weights, window.factors);
      (*observer)(a);
    };
    if (observer) cx.observer = &after_gaussian;
    const ScoreInputs score{Var(window.bias), heads.score_inputs(cx, q, {}).vector};
    const Var y = attention(cx, q, seen.k, window.values, shape, score, heads.name);
    cx.observer = observer;
    return y;
  }

  void show(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
            const KeysAndValues& seen) const override {
    const AttentionObserver* observer = cx.observer;
    const AttentionObserver together = [&](const ObservedAttention& a) {
      AttentionShape shape = a.shape;  // with one head, the weights have the same layout
      shape.queries = queries.spans, shape.keys = seen.spans;
      (*observer)({a.name, shape, a.weights, a.value, a.y});
    };
    cx.observer = &together;
    const RepeatedKeys keys = keys_of_each_query(queries.spans, seen.spans);
    attend(cx, heads, {.x = queries.x, .spans = Spans::one_row_each(q.rows()), .positions = queries.positions}, q,
           {gather_rows(cx, seen.k, keys.rows), gather_rows(cx, seen.v, keys.rows), keys.spans});
    cx.observer = observer;
  }

 private:
  // h (B,D), one query for each sentence of `source`  →  (B,1)
  Var center(Context& cx, const Var& h, const Spans& source) const {
    std::vector<float> lengths;
    for (int s = 0; s < source.sentences(); ++s) lengths.push_back(float(source[s].end - source[s].begin));
    const Tensor S = cx.save({source.sentences(), 1}, h.dtype());
    cx.backend.copy(S, float_tensor(std::move(lengths), S.shape()));
    return gate(cx, Var(S), linear(cx, linear(cx, h, inner_, Var(), Activation::tanh), outer_, Var()));
  }

  static void multiply(const Tensor& weights, const Tensor& factors) {
    const Tensor product = weights.on_host(), by = factors.on_host();
    for_dtype(product.dtype(), [&]<class T>() {
      for (int64_t n = 0; n < product.elements(); ++n) product.as<T>()[n] *= by.as<T>()[n];
    });
    weights.assign(product);
  }

  const Var inner_, outer_;  // W (D,D), v (1,D)
};

}  // namespace

std::shared_ptr<const CrossAttentionKind> make_predictive_attention(Parameters& p, const std::string& name,
                                                                    int64_t dim) {
  Var inner = p.matrix({{name + ".center.inner.weight", dim, Init::glorot(dim, dim)}}, dim);
  Var outer = p.matrix({{name + ".center.outer.weight", 1, Init::glorot(1, dim)}}, dim);
  return std::make_shared<PredictiveAttention>(std::move(inner), std::move(outer));
}

}  // namespace dragoman
