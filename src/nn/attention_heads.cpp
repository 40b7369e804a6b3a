#include "nn/attention_heads.h"

#include "backend/backend.h"
#include "ops/linear.h"

namespace dragoman {

Role RoleProduct::add(const std::string& part, int64_t count) {
  names_.push_back(attention_ + part);
  rows_.push_back(count);
  columns_ += count;
  return {columns_ - count, count};
}

Role RoleProduct::add_query(const AttentionDesign& d) {
  const bool projects = d.projections != Projections::none || score_kind(d.score).has_query_matrix;
  return projects ? add(".query", int64_t{d.sizes.heads} * d.sizes.key) : Role{};
}

RoleProduct::KeyAndValue RoleProduct::add_key_and_value(const AttentionDesign& d) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key, values = int64_t{d.sizes.heads} * d.sizes.value;
  const ScoreKind& score = score_kind(d.score);
  const bool needs_keys = !score.keys_from_positions;
  if (d.projections == Projections::key_value && needs_keys) {
    const Role both = add(".key_value", values);
    return {both, both};
  }
  KeyAndValue roles;
  const bool projects_key = d.projections == Projections::query_key_value || score.has_key_matrix;
  if (needs_keys && projects_key) roles.key = add(".key", keys);
  if (d.projections != Projections::none) roles.value = add(".value", values);
  return roles;
}

Linear RoleProduct::make(Parameters& p, int64_t dim, double gain) const {
  return names_.empty() ? Linear{} : Linear::make(p, names_, rows_, dim, gain);
}

AttentionHeads AttentionHeads::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  AttentionHeads h{.name = name, .design = d};
  if (d.projects_result) h.output = Linear::make(p, {name + ".output"}, {dim}, h.value_columns(), d.gain);
  if (const auto make_score = score_kind(d.score).make) h.learned = make_score(p, name, d);
  if (d.relative > 0) {
    const int64_t rows = 2 * d.relative + 1;
    // distance_scores() reads these numbers themselves if they are not packed.
    h.distances = p.matrix({{name + ".distance.weight", rows, Init::glorot(rows, d.sizes.key)}}, d.sizes.key,
                           Parameters::Use::both);
    if (d.relative_values)
      h.distance_values =
          p.matrix({{name + ".distance_value.weight", d.sizes.value, Init::glorot(rows, d.sizes.value)}}, rows,
                   Parameters::Use::both);
  }
  if (d.norm == HeadNorm::none) return h;
  const NormKind kind = d.norm == HeadNorm::rms ? NormKind::rms : NormKind::layer;
  h.query_norm = Norm::make(p, name + ".query_norm", d.sizes.key, kind);
  h.key_norm = Norm::make(p, name + ".key_norm", d.sizes.key, kind);
  return h;
}

Var AttentionHeads::normed(Context& cx, const Norm& norm, const Var& x) const {
  return norm.weight ? head_norm(cx, x, norm.weight, norm.bias, design.sizes.heads) : x;
}

// A vector that is both key and value is one variable, so that its gradients add up in one tensor.
AttentionHeads::KeyValue AttentionHeads::keys_and_values(Context& cx, const Var& product, const Role& key,
                                                         const Role& value, const Var& x,
                                                         const Tensor& positions) const {
  const Var v = value.of(product, x);
  Var k = learned ? learned->keys(cx, positions) : Var();
  if (!k) k = key.first == value.first ? v : key.of(product, x);
  return {normed(cx, key_norm, k), v};
}

ScoreInputs AttentionHeads::score_inputs(Context& cx, const Var& q, const Var& bias) const {
  const Var vector = learned ? learned->vector() : Var();
  if (distances) return {distance_scores(cx, q, distances, design.sizes.heads), vector, distance_values};
  return {bias, vector, {}};
}

StepShape AttentionHeads::step_shape(const StepKeys& keys, int64_t longest) const {
  return {keys, longest, design.sizes.heads, design.window, score()};
}

void cache_rows(Context& cx, const Tensor& cache, const Tensor& rows, const Var& k, const Var& v) {
  cx.backend.scatter_rows(cache.columns(0, k.cols()), k, rows);
  cx.backend.scatter_rows(cache.columns(k.cols(), v.cols()), v, rows);
}

}  // namespace dragoman
