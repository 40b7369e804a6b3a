#include "nn/attention.h"

#include "ops/attention.h"

namespace dragoman {

SelfAttention SelfAttention::make(Parameters& p, const std::string& name, int64_t dim, HeadSizes s, double gain) {
  const int64_t keys = int64_t{s.heads} * s.key, values = int64_t{s.heads} * s.value;
  return {Linear::make(p, {name + ".query", name + ".key", name + ".value"}, {keys, keys, values}, dim, gain),
          Linear::make(p, {name + ".output"}, {dim}, values, gain), s};
}

Var SelfAttention::operator()(Context& cx, const Var& x, const Spans& spans, const Visibility& visible,
                              const Tensor& places) const {
  const int64_t keys = sizes.heads * sizes.key, values = sizes.heads * sizes.value;
  const Var qkv = query_key_value(cx, x);  // (N, 2·H*K + H*V)
  return output(cx, attention(cx, columns(qkv, 0, keys), columns(qkv, keys, keys), columns(qkv, 2 * keys, values),
                              {spans, spans, sizes.heads, visible, cx.dropout(dropout, places)}));
}

Var SelfAttention::step(Context& cx, const Var& x, const Tensor& cache, const Tensor& rows, const StepKeys& found,
                        int64_t longest) const {
  const int64_t keys = sizes.heads * sizes.key, values = sizes.heads * sizes.value;
  const Var qkv = query_key_value(cx, x);
  cx.backend.scatter_rows(cache, qkv.value().columns(keys, keys + values), rows);
  return output(cx, attention_step(cx, columns(qkv, 0, keys), cache.columns(0, keys), cache.columns(keys, values),
                                   found, sizes.heads, longest));
}

CrossAttention CrossAttention::make(Parameters& p, const std::string& name, int64_t dim, HeadSizes s, double gain) {
  const int64_t keys = int64_t{s.heads} * s.key, values = int64_t{s.heads} * s.value;
  return {Linear::make(p, {name + ".query"}, {keys}, dim, gain),
          Linear::make(p, {name + ".key", name + ".value"}, {keys, values}, dim, gain),
          Linear::make(p, {name + ".output"}, {dim}, values, gain), s};
}

Var CrossAttention::operator()(Context& cx, const Var& x, const Var& memory, const Spans& queries, const Spans& keys,
                               const Tensor& places) const {
  const int64_t key_columns = sizes.heads * sizes.key, value_columns = sizes.heads * sizes.value;
  const Var q = query(cx, x), kv = key_value(cx, memory);  // (Nt,H*K)  (Ns,H*K + H*V)
  return output(cx, attention(cx, q, columns(kv, 0, key_columns), columns(kv, key_columns, value_columns),
                              {queries, keys, sizes.heads, Visibility::all(), cx.dropout(dropout, places)}));
}

Var CrossAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& found, int64_t longest) const {
  const int64_t keys = sizes.heads * sizes.key, values = sizes.heads * sizes.value;
  return output(cx, attention_step(cx, query(cx, x), cache.columns(0, keys), cache.columns(keys, values), found,
                                   sizes.heads, longest));
}

}  // namespace dragoman
