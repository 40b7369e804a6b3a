#include "explain/positions.h"

#include <algorithm>

#include "backend/registry.h"
#include "explain/attention_json.h"

namespace dragoman {

PositionVectors sinusoids(int64_t positions, int64_t columns, SinusoidOrder order) {
  Arena arena;
  Sinusoids made(columns, order, DType::f32);
  const auto* first = made.table(arena, backend("reference"), positions).as<float>();
  return {order == SinusoidOrder::halves ? "sinusoidal" : "interleaved", columns, {first, first + positions * columns}};
}

std::vector<PositionVectors> positions_of(const ModelFile& model, int64_t positions) {
  const ModelConfig& config = model.config();
  if (sinusoids_added(config.positions)) {
    const bool halves = config.positions == Positions::sinusoidal;
    return {sinusoids(positions, config.dim, halves ? SinusoidOrder::halves : SinusoidOrder::interleaved)};
  }
  require(config.positions == Positions::learned,
          "--positions: {} adds no vectors to embeddings, its positions are {}; expected sinusoidal, interleaved or "
          "learned ones",
          model.tensors().path(), name_of(config.positions));
  std::vector<PositionVectors> found;
  for (const char* name : {"encoder.positions", "decoder.positions"})
    if (const TensorEntry* table = model.tensors().find(std::string(name) + ".weight")) {
      std::vector<float> values = values_of<float>(*table);
      values.resize(std::min<int64_t>(positions, table->shape[0]) * config.dim);
      found.push_back({name, config.dim, std::move(values)});
    }
  return found;
}

std::string to_json(const PositionVectors& vectors) {
  return fmt::format(R"({{"name":"{}","vectors":{}}})", vectors.name, json_rows(vectors.values, vectors.columns));
}

}  // namespace dragoman
