#include "nn/cross_attention.h"

namespace dragoman {

CrossAttention CrossAttention::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  CrossAttention a;
  RoleProduct of_target(name), of_source(name);
  a.query = of_target.add_query(d);
  const RoleProduct::KeyAndValue roles = of_source.add_key_and_value(d);
  a.key = roles.key, a.value = roles.value;
  a.query_product = of_target.make(p, dim, d.gain);
  a.key_value_product = of_source.make(p, dim, d.gain);
  a.heads = AttentionHeads::make(p, name, dim, d);
  a.kind = make_kind(p, name, dim, d);
  return a;
}

Var CrossAttention::project(Context& cx, const Var& x) const {
  return heads.queries(cx, query.projected() ? query_product(cx, x) : x);  // (Nq,H*K)
}

KeysAndValues CrossAttention::keys_and_values(Context& cx, const Var& encoded, const Spans& spans,
                                              const Tensor& positions) const {
  const Var all = key_value_product.weight ? key_value_product(cx, encoded) : Var();  // (Ns,H*K + H*V)
  const auto [k, v] = heads.keys_and_values(cx, all, key, value, encoded, positions);
  return {k, v, spans};
}

Var CrossAttention::operator()(Context& cx, const Queries& queries, const KeysAndValues& seen) const {
  const Var q = project(cx, queries.x);
  if (queries.guide) guide(cx, queries, q, seen.k, seen.spans);
  return heads.result(cx, kind->attend(cx, heads, queries, q, seen));
}

void CrossAttention::guide(Context& cx, const Queries& queries, const Var& keys, const Spans& spans) const {
  guide(cx, queries, project(cx, queries.x), keys, spans);
}

// As if the first head attended alone, without dropout.
void CrossAttention::guide(Context& cx, const Queries& queries, const Var& q, const Var& k, const Spans& keys) const {
  const int64_t K = heads.design.sizes.key;
  const AttentionShape first_head{queries.spans, keys, 1, {.window = heads.design.window}, heads.score(), {}};
  queries.guide->loss = guided_alignment_loss(cx, some_columns(q, 0, K), some_columns(k, 0, K), first_head,
                                              queries.guide->links, heads.learned ? heads.learned->vector() : Var());
}

Var CrossAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& keys, int64_t longest) const {
  return heads.result(cx, kind->step(cx, heads, x, project(cx, x), cache, keys, longest));
}

void CrossAttention::show(Context& cx, const Queries& queries, const KeysAndValues& seen) const {
  kind->show(cx, heads, queries, project(cx, queries.x), seen);
}

}  // namespace dragoman
