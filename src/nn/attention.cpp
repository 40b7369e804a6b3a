#include "nn/attention.h"

#include "backend/backend.h"
#include "ops/embedding.h"
#include "ops/hard_attention.h"
#include "ops/linear.h"
#include "ops/local_attention.h"
#include "ops/recurrent.h"

namespace dragoman {
namespace {

// Collects what is projected from one vector: names and columns of a product's parts.
struct Product {
  std::string name;  // of the attention
  std::vector<std::string> names = {};
  std::vector<int64_t> rows = {};
  int64_t columns = 0;

  Role add(const std::string& part, int64_t count) {
    names.push_back(name + part);
    rows.push_back(count);
    columns += count;
    return {columns - count, count};
  }
  Linear make(Parameters& p, int64_t dim, double gain) const {
    return names.empty() ? Linear{} : Linear::make(p, names, rows, dim, gain);
  }
};

// One vector as key and value is one variable, so that its gradient gathers in one tensor.
Var key_of(const Role& key, const Role& value, const Var& v, const Var& product, const Var& x) {
  return key.first == value.first ? v : key.of(product, x);
}

// One vector as key and value takes the slot of the value; its name says so.
void add_key_value(Product& product, const AttentionDesign& d, Role& key, Role& value) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key, values = int64_t{d.sizes.heads} * d.sizes.value;
  const bool shared = d.projections == Projections::key_value && d.score != AttentionScore::location;
  if (d.projects_key()) key = product.add(".key", keys);
  if (d.projects_value()) value = product.add(shared ? ".key_value" : ".value", values);
  if (shared) key = value;
}

}  // namespace

AttentionHeads AttentionHeads::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  const int64_t keys = int64_t{d.sizes.heads} * d.sizes.key, values = int64_t{d.sizes.heads} * d.sizes.value;
  AttentionHeads h{.name = name, .design = d};
  if (d.projects_result) h.output = Linear::make(p, {name + ".output"}, {dim}, values, d.gain);
  const auto table = [&](const std::string& part, int64_t rows, int64_t cols, Parameters::Use use) {
    return p.matrix({{name + part, rows, Init::glorot(rows, cols)}}, cols, use);
  };
  if (d.score == AttentionScore::additive)
    h.score_vector = p.vector({{name + ".score.weight", keys, Init::glorot(1, d.sizes.key)}});
  if (d.score == AttentionScore::location)
    h.locations = table(".location.positions.weight", d.locations, keys, Parameters::Use::lookup);
  if (d.relative > 0)
    h.distances = table(".distance.weight", 2 * d.relative + 1, d.sizes.key, Parameters::Use::product);
  if (d.norm == HeadNorm::none) return h;
  const NormKind kind = d.norm == HeadNorm::rms ? NormKind::rms : NormKind::layer;
  h.query_norm = Norm::make(p, name + ".query_norm", d.sizes.key, kind);
  h.key_norm = Norm::make(p, name + ".key_norm", d.sizes.key, kind);
  return h;
}

Var AttentionHeads::keys_at_positions(Context& cx, const Tensor& positions) const {
  std::vector<int32_t> ids(positions.rows());
  for (int64_t n = 0; n < positions.rows(); ++n)
    ids[n] = std::min<int32_t>(positions.view<int32_t>()(n, 1), int32_t(locations.rows()) - 1);
  const Tensor rows = int_tensor(std::move(ids), {positions.rows()});
  return embedding(cx, {rows, positions, locations, Var(), 1}, {});
}

ScoreInputs AttentionHeads::score_inputs(Context& cx, const Var& q, const Tensor& bias) const {
  if (distances) return {distance_scores(cx, q, distances, design.sizes.heads), score_vector};
  return {Var(bias), score_vector};
}

StepShape AttentionHeads::step_shape(const StepKeys& keys, int64_t longest) const {
  return {keys, longest, design.sizes.heads, design.window, design.kernel_score()};
}

void cache_rows(Context& cx, const Tensor& cache, const Tensor& rows, const Var& k, const Var& v) {
  cx.backend.scatter_rows(cache.columns(0, k.cols()), k, rows);
  cx.backend.scatter_rows(cache.columns(k.cols(), v.cols()), v, rows);
}

SelfAttention SelfAttention::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  SelfAttention a;
  Product product{name};
  if (d.projects_query()) a.query = product.add(".query", int64_t{d.sizes.heads} * d.sizes.key);
  add_key_value(product, d, a.key, a.value);
  a.product = product.make(p, dim, d.gain);
  a.heads = AttentionHeads::make(p, name, dim, d);
  const int64_t H = d.sizes.heads;
  if (d.memory.stride > 1)
    a.compression = Compression::make(p, name, H * d.sizes.key, H * d.sizes.value, d.memory.stride);
  return a;
}

SelfAttention::QueryKeyValue SelfAttention::parts(Context& cx, const Var& x, const Tensor& positions,
                                                  const Tensor& rotary) const {
  const Var all = product.weight ? product(cx, x) : Var();  // (N, 2·H*K + H*V)
  QueryKeyValue p{query.of(all, x), {}, value.of(all, x)};
  p.k = heads.locations ? heads.keys_at_positions(cx, positions) : key_of(key, value, p.v, all, x);
  p.q = heads.normed(cx, heads.query_norm, p.q);
  p.k = heads.normed(cx, heads.key_norm, p.k);
  if (rotary) {
    p.q = rotate(cx, p.q, rotary, positions, heads.design.sizes.heads);
    p.k = rotate(cx, p.k, rotary, positions, heads.design.sizes.heads);
  }
  return p;
}

// One key of many lies in the cache at its position, instead of those that it was made of.
Compression::Result SelfAttention::compressed(Context& cx, const QueryKeyValue& p, const SelfRows& rows) const {
  const Compression::Result one = (*compression)(cx, p.k, p.v, rows.spans);
  if (!rows.cache) return one;
  std::vector<int32_t> into;
  for (int s = 0; s < rows.spans.sentences(); ++s)
    for (int64_t n = rows.spans[s].begin; n < rows.spans[s].end; n += compression->stride)
      into.push_back(rows.cached.as<int32_t>()[n]);
  cache_rows(cx, rows.cache, int_tensor(std::move(into), {one.k.rows()}), one.k, one.v);
  return one;
}

Var SelfAttention::operator()(Context& cx, const Var& x, const SelfRows& rows, bool causal) const {
  const AttentionDesign& d = heads.design;
  QueryKeyValue p = parts(cx, x, rows.positions, rows.rotary);
  if (rows.cache) cache_rows(cx, rows.cache, rows.cached, p.k, p.v);
  const Spans queries = d.memory.block > 0 ? blocks_of(rows.spans, d.memory.block) : rows.spans;
  Spans keys = queries;
  if (compression) {
    const auto [k, v] = compressed(cx, p, rows);
    p.k = k, p.v = v;
    keys = strides_of(rows.spans, d.memory.stride);
  }
  const AttentionShape shape{queries,          keys,
                             d.sizes.heads,    {.causal = causal, .window = d.window, .stride = d.memory.stride},
                             d.kernel_score(), cx.dropout(d.dropout, rows.positions)};
  return heads.result(cx, attention(cx, p.q, p.k, p.v, shape, heads.score_inputs(cx, p.q, rows.bias), heads.name));
}

Var SelfAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepRows& rows) const {
  const auto [q, k, v] = parts(cx, x, rows.positions, rows.rotary);
  cache_rows(cx, cache, rows.cached, k, v);
  if (compression) compression->step(cx, cache, rows.past);
  const Past past = part_of({rows.past, rows.longest_past}, heads.design.memory);
  const Tensor keys = cache.columns(0, k.cols()), values = cache.columns(k.cols(), v.cols());
  return heads.result(cx, attention_step(cx, q, keys, values, heads.step_shape(past.keys, past.longest),
                                         heads.score_inputs(cx, q, rows.bias)));
}

CrossAttention CrossAttention::make(Parameters& p, const std::string& name, int64_t dim, const AttentionDesign& d) {
  CrossAttention a;
  Product from_target{name}, from_memory{name};
  if (d.projects_query()) a.query = from_target.add(".query", int64_t{d.sizes.heads} * d.sizes.key);
  add_key_value(from_memory, d, a.key, a.value);
  a.query_product = from_target.make(p, dim, d.gain);
  a.key_value_product = from_memory.make(p, dim, d.gain);
  a.heads = AttentionHeads::make(p, name, dim, d);
  if (d.center == LocalCenter::predictive) a.center = PredictedPosition::make(p, name + ".center", dim);
  return a;
}

PredictedPosition PredictedPosition::make(Parameters& p, const std::string& name, int64_t dim) {
  return {p.matrix({{name + ".inner.weight", dim, Init::glorot(dim, dim)}}, dim),
          p.matrix({{name + ".outer.weight", 1, Init::glorot(1, dim)}}, dim)};
}

Var PredictedPosition::operator()(Context& cx, const Var& h, const Spans& source) const {
  std::vector<float> lengths;
  for (int s = 0; s < source.sentences(); ++s) lengths.push_back(float(source[s].end - source[s].begin));
  const Tensor S = cx.save({source.sentences(), 1}, h.dtype());
  cx.backend.copy(S, float_tensor(std::move(lengths), S.shape()));
  return gate(cx, Var(S), linear(cx, linear(cx, h, inner, Var(), Activation::tanh), outer, Var()));
}

CrossAttention::KeysAndValues CrossAttention::keys_and_values(Context& cx, const Var& memory,
                                                              const Tensor& positions) const {
  const Var all = key_value_product.weight ? key_value_product(cx, memory) : Var();  // (Ns,H*K + H*V)
  const Var v = value.of(all, memory);
  const Var k = heads.locations ? heads.keys_at_positions(cx, positions) : key_of(key, value, v, all, memory);
  return {heads.normed(cx, heads.key_norm, k), v};
}

Var CrossAttention::queries(Context& cx, const Var& x) const {
  return heads.normed(cx, heads.query_norm, query.projected() ? query_product(cx, x) : x);  // (Nt,H*K)
}

Var CrossAttention::operator()(Context& cx, const Var& x, const KeysAndValues& memory, const Spans& queries_of,
                               const Spans& keys, const Tensor& positions, int64_t first) const {
  const AttentionDesign& d = heads.design;
  const Var q = queries(cx, x);
  const AttentionShape shape{queries_of,       keys,
                             d.sizes.heads,    {.window = d.window, .first = first},
                             d.kernel_score(), cx.dropout(d.dropout, positions)};
  if (center.inner) return heads.result(cx, around_center(cx, q, center(cx, x, keys), memory, shape));
  return heads.result(cx, attention(cx, q, memory.k, memory.v, shape, heads.score_inputs(cx, q, {}), heads.name));
}

// Who watches sees the weights as the Gaussian leaves them.
Var CrossAttention::around_center(Context& cx, const Var& q, const Var& position, const KeysAndValues& memory,
                                  AttentionShape shape) const {
  const GaussianWindow window = gaussian_window(cx, memory.v, position, shape.keys, heads.design.window);
  shape.visible = Visibility::all();
  const AttentionObserver* observer = cx.observer;
  const AttentionObserver lower = [&](const ObservedAttention& a) {
    const Tensor weights = a.weights.on_host(), factors = window.factors.on_host();
    for_dtype(weights.dtype(), [&]<class T>() {
      for (int64_t n = 0; n < weights.elements(); ++n) weights.as<T>()[n] *= factors.as<T>()[n];
    });
    a.weights.assign(weights);
    (*observer)(a);
  };
  if (observer) cx.observer = &lower;
  const ScoreInputs score{Var(window.bias), heads.score_vector};
  const Var y = attention(cx, q, memory.k, window.values, shape, score, heads.name);
  cx.observer = observer;
  return y;
}

Var CrossAttention::choose(Context& cx, const Var& x, const KeysAndValues& memory, const Spans& keys,
                           const Tensor& positions, const Tensor& signal) const {
  const Var q = queries(cx, x);
  const AttentionShape shape{
      .queries = Spans::one_row_each(q.rows()), .keys = keys, .score = heads.design.kernel_score()};
  const HardChoice choice{cx.dropout(1, positions), signal};  // numbered like a dropout, a draw a row
  return heads.result(cx, hard_attention(cx, q, memory.k, memory.v, shape, heads.score_inputs(cx, q, {}), choice));
}

Var CrossAttention::step(Context& cx, const Var& x, const Tensor& cache, const StepKeys& keys, int64_t longest) const {
  const int64_t key_dim = heads.design.sizes.heads * heads.design.sizes.key;
  const Var q = queries(cx, x);
  return heads.result(cx,
                      attention_step(cx, q, cache.columns(0, key_dim), cache.columns(key_dim, cache.cols() - key_dim),
                                     heads.step_shape(keys, longest), heads.score_inputs(cx, q, {})));
}

}  // namespace dragoman
