#include "model/transformer_parts.h"

#include <algorithm>
#include <cmath>

#include "ops/dropout.h"
#include "ops/embedding.h"

namespace dragoman {

SinusoidDesign sinusoid_design(const ModelConfig& c) {
  return {.dim = c.dim,
          .order = c.positions == Positions::interleaved ? SinusoidOrder::interleaved : SinusoidOrder::halves,
          .tensor2tensor = c.position_spacing == PositionSpacing::tensor2tensor,
          .first = c.first_position};
}

TransformerParts::TransformerParts(const ModelConfig& config, Parameters parameters)
    : config_(config),
      parameters_(std::move(parameters)),
      sinusoids_(sinusoid_design(config), parameters_.dtype()),
      rotary_({.dim = config.head_keys()}, parameters_.dtype()),
      bias_(config.heads, score_scale(score_kind(config.attention.score).kernel, config.head_keys()),
            parameters_.dtype()) {
  require(config.source_vocabulary > 0 && config.target_vocabulary > 0, "a model needs the sizes of its vocabularies");
}

double TransformerParts::gain(int layer) const {
  return config_.initialisation == Initialisation::depth_scaled ? 1 / std::sqrt(layer + 1.0) : 1.0;
}

// Local attention first, then compressed memory: L M L M L in Liu et al. 2018.
MemoryShape TransformerParts::memory_of(int layer) const {
  if (config_.attention.memory == AttentionMemory::full) return {};
  return layer % 2 == 0 ? MemoryShape{.block = config_.attention.block}
                        : MemoryShape{.stride = config_.attention.stride};
}

AttentionDesign TransformerParts::attention_design(const ModelConfig& side, int layer) const {
  return {.sizes = {side.heads, side.head_keys(), side.head_values()},
          .score = config_.attention.score,
          .projections = config_.attention.projections,
          .norm = config_.attention.norm,
          .window = config_.attention.window > 0 ? config_.attention.window : -1,
          .memory = memory_of(layer),
          .relative = config_.positions == Positions::relative ? config_.relative_positions : 0,
          .relative_values = config_.relative_values,
          .locations = config_.max_positions,
          .projects_result = config_.attention.projects_result,
          .dropout = config_.dropout.attention,
          .gain = gain(layer)};
}

Norm TransformerParts::make_norm(const std::string& name) {
  return Norm::make(parameters_, name, config_.dim, config_.norm_kind, config_.norm_epsilon);
}

SelfAttention TransformerParts::make_self_attention(const ModelConfig& side, const std::string& name, int layer) {
  return SelfAttention::make(parameters_, name, config_.dim, attention_design(side, layer));
}

FeedForwardLayer TransformerParts::make_feed_forward(const ModelConfig& side, const std::string& name, int layer) {
  const int64_t D = config_.dim, F = side.feed_forward, E = config_.experts.count;
  const bool gated = config_.gated_feed_forward;
  const auto one = [&](const std::string& at) -> FeedForward {
    return {gated ? Linear::make(parameters_, {at + ".gate", at + ".up"}, {F, F}, D, gain(layer))
                  : Linear::make(parameters_, {at + ".up"}, {F}, D, gain(layer)),
            Linear::make(parameters_, {at + ".down"}, {D}, F, gain(layer)), config_.activation,
            config_.dropout.activation, gated};
  };
  if (!config_.has_experts(layer)) return {one(name)};
  MixtureOfExperts many{.router = parameters_.matrix({{name + ".router.weight", E, Init::glorot(E, D)}}, D,
                                                     Parameters::Use::exact_product),
                        .experts = {},
                        .top_k = config_.experts.top_k,
                        .load_loss = config_.experts.load_loss,
                        .capacity = config_.experts.capacity};
  for (int e = 0; e < E; ++e) many.experts.push_back(one(fmt::format("{}.expert.{}", name, e)));
  return {std::move(many)};
}

TransformerParts::Layer TransformerParts::make_layer(const ModelConfig& side, const std::string& name, int layer) {
  return {make_self_attention(side, name + ".self_attention", layer), make_norm(name + ".self_attention_norm"),
          make_feed_forward(side, name + ".feed_forward", layer), make_norm(name + ".feed_forward_norm")};
}

Var TransformerParts::make_positions(const ModelConfig& side, const std::string& name) {
  if (!has_position_table(config_.positions)) return {};
  const Init init{Init::normal, 0.02};
  if (config_.positions == Positions::learned)
    return parameters_.matrix({{name + ".positions.weight", config_.max_positions, init}}, config_.dim,
                              Parameters::Use::lookup);
  return parameters_.matrix({{name + ".relative_bias.weight", side.heads, init}}, config_.relative_buckets,
                            Parameters::Use::lookup);
}

// Tokens beyond the last learned position share it.
int64_t TransformerParts::last_position() const {
  return config_.positions == Positions::learned ? config_.max_positions - 1 : any_position;
}

TransformerParts::Rows TransformerParts::rows_of(const PackedIds& packed, const Batch& batch) const {
  Rows rows{int_tensor(packed.ids, {int64_t(packed.ids.size())}),
            positions_of(packed.spans, batch.sentences, last_position()), packed.spans};
  if (config_.experts.count > 0) rows.weights = batch.row_weights(packed.spans);
  return rows;
}

TransformerParts::Rows TransformerParts::step_rows(std::vector<int32_t> ids, const std::vector<int64_t>& token) const {
  const auto R = int64_t(ids.size());
  std::vector<int32_t> positions;
  for (int64_t r = 0; r < R; ++r) positions.insert(positions.end(), {0, int32_t(std::min(token[r], last_position()))});
  return {int_tensor(std::move(ids), {R}), int_tensor(std::move(positions), {R, 2}), Spans()};
}

// Post-norm: norm(x + dropout(f(x))), section 3.1.  Pre-norm: x + dropout(f(norm(x))).
Var TransformerParts::sublayer(Context& cx, const Norm& norm, const Var& x, const Tensor& positions,
                               const Function& f) {
  if (config_.norm == NormPlacement::pre) {
    const Var y = f(norm(cx, x));
    return residual(cx, x, y, cx.dropout(config_.dropout.sublayer, positions));
  }
  const Var y = f(x);
  return norm.of_sum(cx, x, y, cx.dropout(config_.dropout.sublayer, positions));
}

void TransformerParts::locate(Context& cx, const Var& table, bool causal, Rows& rows) {
  int32_t last = 0;
  const auto positions = rows.positions.view<int32_t>();
  for (int64_t n = 0; n < rows.ids.elements(); ++n) last = std::max(last, positions(n, 1));
  if (config_.positions == Positions::learned) rows.position_table = table;
  if (sinusoids_added(config_.positions)) rows.position_table = Var(sinusoids_.table(cx.arena, cx.backend, last + 1));
  if (config_.positions == Positions::rotary) rows.rotary = rotary_.table(cx.arena, cx.backend, last + 1);
  if (config_.positions == Positions::alibi) rows.bias = Var(bias_.table(cx.arena, cx.backend, last + 1));
  if (config_.positions == Positions::relative_bias && !rows.bias)
    rows.bias =
        bucket_bias(cx, table, distance_buckets({config_.relative_buckets, config_.relative_max_distance, causal}),
                    1 / score_scale(score_kind(config_.attention.score).kernel, config_.head_keys()));
}

Var TransformerParts::embed(Context& cx, const Var& table, const Norm* norm, double word_dropout, const Rows& rows) {
  const double scale = config_.embeddings.scale > 0 ? config_.embeddings.scale : std::sqrt(double(config_.dim));
  const EmbeddingInput input{rows.ids, rows.positions,
                             table,    rows.position_table,
                             scale,    word_dropout > 0 ? cx.dropout(word_dropout, rows.positions) : Dropout()};
  const Dropout drop = cx.dropout(config_.dropout.of_embeddings(), rows.positions);
  return norm ? dropout(cx, (*norm)(cx, embedding(cx, input, {})), drop) : embedding(cx, input, drop);
}

Var TransformerParts::layer(Context& cx, const Layer& p, Var x, const SelfRows& rows, bool causal,
                            const Tensor& weights) {
  x = sublayer(cx, p.self_attention_norm, x, rows.positions,
               [&](const Var& y) { return p.self_attention(cx, y, rows, causal); });
  return sublayer(cx, p.feed_forward_norm, x, rows.positions,
                  [&](const Var& y) { return p.feed_forward(cx, y, rows.positions, weights); });
}

}  // namespace dragoman
