#include "io/weight_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "backend/backend.h"
#include "backend/registry.h"
#include "io/int8_weights.h"
#include "io/model_file.h"
#include "model/model.h"
#include "nn/parameters.h"
#include "nn/scores/score_kind.h"

namespace dragoman {
namespace {

// Of a tensor that is made on demand, too. Its shape is that of a file, so the product may be too large for an integer.
double size_in_bytes(const TensorEntry& tensor) {
  if (!tensor.make) return double(tensor.bytes.size());
  double bytes = double(size_of(tensor.dtype));
  for (const int64_t extent : tensor.shape) bytes *= double(extent);
  return bytes;
}

}  // namespace

void require_sizes(std::span<const TensorEntry> all, const ModelConfig& c, const std::string& path) {
  const auto tensors = int64_t(all.size());
  double sum = 0;
  for (const TensorEntry& t : all) sum += size_in_bytes(t);
  const auto bytes = int64_t(std::min(sum, 0x1p62));
  const auto within = [&](const char* name, int64_t size, int64_t most) {
    require(size <= most, "{}: '{}' is {} in the model's configuration, expected at most {} in a file of {} tensors",
            path, name, size, most, tensors);
  };
  within("encoder_layers", c.encoder_layers, tensors);
  within("decoder_layers", c.decoder_layers, tensors);
  within("dim", c.dim, bytes);
  if (c.type == ModelType::s2s) within("rnn_dim", c.rnn.dim, bytes);
  if (c.rnn.encoder.type == EncoderType::convolutional) within("encoder_kernel", c.rnn.encoder.kernel, bytes);
  within("feed_forward", c.feed_forward, bytes);
  within("decoder_feed_forward", c.decoder_feed_forward, bytes);
  within("decoder_heads", c.decoder_heads, bytes);
  within("moe_experts", c.experts.count, tensors);
  within("heads * key_size", c.heads * int64_t{c.head_keys()}, bytes);
  within("heads * value_size", c.heads * int64_t{c.head_values()}, bytes);
  const bool knows_positions = c.positions == Positions::learned || score_kind(c.attention.score).keys_from_positions;
  if (knows_positions) within("max_positions", c.max_positions, bytes);
  if (c.positions == Positions::relative) within("relative_positions", c.relative_positions, bytes / 2);
}

void require_weights(std::span<const TensorEntry> tensors, const Parameters& parameters, const std::string& path) {
  std::map<std::string_view, const TensorEntry*> by_name;
  for (const TensorEntry& t : tensors) by_name[t.name] = &t;
  std::set<std::string> known = {"vocabulary.source", "vocabulary.target"};
  for (const auto& p : parameters.named()) {
    const auto found = by_name.find(p.name);
    require(found != by_name.end(), "{} has no tensor {}", path, p.name);
    const TensorEntry &stored = *found->second, wanted = entry_of(p.name, p.value);
    require(stored.shape == wanted.shape, "{}: {} is ({}), the model's configuration makes it ({})", path, p.name,
            fmt::join(stored.shape, ","), fmt::join(wanted.shape, ","));
    known.insert(p.name);
    if (stored.dtype == DType::i8) known.insert(scale_name(p.name));
  }
  for (const TensorEntry& t : tensors)
    require(known.contains(t.name), "{}: tensor {} is not part of the model that the configuration describes", path,
            t.name);
}

void require_weights(std::span<const TensorEntry> tensors, const ModelConfig& config, const std::string& path) {
  require_sizes(tensors, config, path);
  const Backend dry = dry_like(backend("cpu"));
  Arena without_memory(Arena::Reserve::addresses_only);
  const auto model = make_packed_model(config, dry, without_memory, DType::f32);
  require_weights(tensors, model->parameters(), path);
}

}  // namespace dragoman
