#include "explain/positions.h"

#include <algorithm>

#include "backend/registry.h"
#include "explain/attention_json.h"
#include "model/transformer_parts.h"

namespace dragoman {

PositionVectors sinusoids(int64_t positions, const SinusoidDesign& design) {
  Arena arena;
  Sinusoids made(design, DType::f32);
  const auto* first = made.table(arena, backend("reference"), positions).as<float>();
  const bool halves = design.order == SinusoidOrder::halves;
  return {halves ? "sinusoidal" : "interleaved", design.dim, {first, first + positions * design.dim}};
}

std::vector<PositionVectors> positions_of(const ModelFile& model, int64_t positions) {
  const ModelConfig& config = model.config();
  if (sinusoids_added(config.positions)) return {sinusoids(positions, sinusoid_design(config))};
  require(
      config.positions == Positions::learned,
      "--positions: {} has no position embeddings, its positions are {}; expected sinusoidal, interleaved or learned",
      model.tensors().path(), name_of(config.positions));
  std::vector<PositionVectors> found;
  for (const char* name : {"encoder.positions", "decoder.positions"})
    if (const TensorEntry* table = model.tensors().find(std::string(name) + ".weight")) {
      std::vector<float> values = values_of<float>(model.tensors(), table->name);
      values.resize(std::min<int64_t>(positions, table->shape[0]) * config.dim);
      found.push_back({name, config.dim, std::move(values)});
    }
  return found;
}

std::string to_json(const PositionVectors& vectors) {
  return fmt::format(R"({{"name":"{}","vectors":{}}})", vectors.name, json_rows(vectors.values, vectors.columns));
}

}  // namespace dragoman
