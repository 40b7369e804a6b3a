#include "nn/self_attention.h"

namespace dragoman {

SelfAttention SelfAttention::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  SelfAttention a;
  RoleProduct product(name);
  a.query = product.add_query(d);
  const RoleProduct::KeyAndValue roles = product.add_key_and_value(d);
  a.key = roles.key, a.value = roles.value;
  a.product = product.make(p, dim, d.gain);
  a.heads = AttentionHeads::make(p, name, dim, d);
  a.memory = make_memory(p, name, d);
  return a;
}

SelfAttention::Projected SelfAttention::project(Context& cx, const Var& x, const Tensor& positions,
                                                const Tensor& rotary) const {
  const Var all = product.weight ? product(cx, x) : Var();  // (N, 2·H*K + H*V)
  const Var q = heads.queries(cx, query.of(all, x));
  const auto [k, v] = heads.keys_and_values(cx, all, key, value, x, positions);
  if (!rotary) return {q, k, v};
  const int H = heads.design.sizes.heads;
  return {rotate(cx, q, rotary, positions, H), rotate(cx, k, rotary, positions, H), v};
}

Var SelfAttention::operator()(Context& cx, const Var& x, const SelfRows& rows, bool causal) const {
  const AttentionDesign& d = heads.design;
  const auto [q, k, v] = project(cx, x, rows.positions, rows.rotary);
  if (rows.cache) cache_rows(cx, rows.cache, rows.cached, k, v);
  const KeyMemory::Seen seen = memory ? memory->see(cx, k, v, rows) : KeyMemory::Seen{rows.spans, rows.spans, k, v};
  const AttentionShape shape{seen.queries,  seen.keys,
                             d.sizes.heads, {.causal = causal, .window = d.window, .stride = seen.stride},
                             heads.score(), cx.dropout(d.dropout, rows.positions)};
  return heads.result(cx, attention(cx, q, seen.k, seen.v, shape, heads.score_inputs(cx, q, rows.bias), heads.name));
}

Var SelfAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  const auto [q, k, v] = project(cx, x, rows.positions, rows.rotary);
  NewKeys own{k, v, rows.cached};
  Past past = rows.past;
  if (memory) {  // it reads this step's keys
    cache_rows(cx, cache, rows.cached, k, v);
    past = memory->see_step(cx, cache, rows.past);
    own = {};
  }
  return heads.result(
      cx, attention_step(cx, q, cache.columns(0, k.cols()), cache.columns(k.cols(), v.cols()),
                         heads.step_shape(past.keys, past.longest), heads.score_inputs(cx, q, rows.bias), own));
}

}  // namespace dragoman
