#include "nn/cross_attention_kinds/cross_attention_kind.h"

#include "ops/rows.h"

namespace dragoman {
namespace {

// A copy of the keys and values that each row sees.
KeysAndValues gathered(Context& cx, const AttentionHeads& heads, const Tensor& cache, const StepKeys& keys) {
  const int64_t R = keys.length.elements(), K = heads.key_columns(), V = heads.value_columns();
  const int32_t *length = keys.length.as<int32_t>(), *begin = keys.begin.as<int32_t>();
  std::vector<int32_t> rows;
  for (int64_t r = 0; r < R; ++r)
    for (int32_t i = 0; i < length[r]; ++i) rows.push_back(begin[r] + i);
  const auto N = int64_t(rows.size());
  const Tensor which = int_tensor(std::move(rows), {N});
  return {gather_rows(cx, Var(cache.columns(0, K)), which), gather_rows(cx, Var(cache.columns(K, V)), which),
          Spans::of_lengths({length, length + R})};
}

}  // namespace

std::shared_ptr<const CrossAttentionKind> make_kind(Parameters& p, const std::string& name, int64_t dim,
                                                    const AttentionDesign& d) {
  if (d.choice == AttentionKind::hard) return make_hard_attention(d);
  if (d.center == LocalCenter::predictive) return make_predictive_attention(p, name, dim);
  return make_soft_attention();
}

// As in training, with each row as a sentence of its own.
Var CrossAttentionKind::step(Context& cx, const AttentionHeads& heads, const Var& x, const Var& q, const Tensor& cache,
                             const StepKeys& keys, int64_t) const {
  const Queries queries{.x = x, .spans = Spans::one_row_each(x.rows()), .positions = {}};
  return attend(cx, heads, queries, q, gathered(cx, heads, cache, keys));
}

void CrossAttentionKind::show(Context& cx, const AttentionHeads& heads, const Queries& queries, const Var& q,
                              const KeysAndValues& seen) const {
  attend_softly(cx, heads, queries, q, seen);
}

Tensor CrossAttentionKind::learning_signal(Context&, int64_t, DType) const { return {}; }

void CrossAttentionKind::reward(Context&, const SignalledLoss&) const {}

}  // namespace dragoman
