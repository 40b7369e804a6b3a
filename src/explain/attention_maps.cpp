#include "explain/attention_maps.h"

#include <charconv>

#include "backend/backend.h"

namespace dragoman {
namespace {

// The data of an attention that is kept until the end of the pass.
struct Seen {
  std::string name;
  AttentionShape shape;
  Tensor weights;  // (H·nq·nk)
  Var value, y;
};

PackedIds one_sentence(const std::vector<int32_t>& ids) { return {ids, Spans::of_lengths({int32_t(ids.size())})}; }

std::vector<Seen> observed_pass(const Context& cx, Model& model, const IdPair& pair, Tape* tape) {
  std::vector<Seen> seen;
  const AttentionObserver observer = [&](const ObservedAttention& a) {
    seen.push_back({a.name, a.shape, a.weights, a.value, a.y});
  };
  Context observed{.backend = cx.backend,
                   .arena = cx.arena,
                   .tape = tape,
                   .packed = cx.packed,
                   .rounded = cx.rounded,
                   .all_gradients = true,
                   .observer = &observer};
  model.loss(observed, {one_sentence(pair.source), one_sentence(pair.target), {0}}, 0);
  if (tape) tape->backward(cx.backend, cx.arena);
  return seen;
}

AttentionSite site_of(std::string_view name) {
  if (name.starts_with("encoder.")) return AttentionSite::encoder_self;
  return name.ends_with("cross_attention") ? AttentionSite::cross : AttentionSite::decoder_self;
}

// The layer: the first number between dots in the name.
int layer_of(std::string_view name) {
  int layer = 0;
  name.remove_prefix(std::min(name.find('.') + 1, name.size()));
  std::from_chars(name.data(), name.data() + name.size(), layer);
  return layer;
}

std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor x = tensor.on_host();
  std::vector<float> floats(size_t(x.elements()));
  for_dtype(x.dtype(), [&]<class T>() { std::copy_n(x.as<T>(), x.elements(), floats.begin()); });
  return floats;
}

AttentionMap map_of(const Seen& seen) {
  AttentionMap map{
      seen.name, site_of(seen.name), layer_of(seen.name), seen.shape.queries.rows(), seen.shape.keys.rows(), {}};
  const std::vector<float> all = floats_of(seen.weights);
  const int64_t pairs = map.queries * map.keys;
  for (int h = 0; h < seen.shape.heads; ++h)
    map.heads.push_back({h, {all.begin() + h * pairs, all.begin() + (h + 1) * pairs}});
  return map;
}

// As y = weights · v, the gradient of the weights is dy · vᵀ. The backward pass starts at the loss, which is -Σ log p.
void multiply_by_gradient(const Context& cx, const Seen& seen, AttentionMap& map) {
  const Node& node = *seen.y.node();
  const int64_t size = seen.value.cols() / seen.shape.heads;
  const Tensor gradient = cx.arena.allocate({map.queries, map.keys}, seen.y.dtype());
  for (HeadMap& head : map.heads) {
    if (node.written) {
      cx.backend.linear(gradient, node.gradient.columns(head.head * size, size),
                        seen.value.value().columns(head.head * size, size), Tensor(), Activation::none);
    } else {  // the attention does not influence the loss
      cx.backend.fill(gradient, 0);
    }
    const std::vector<float> of_loss = floats_of(gradient);
    for (size_t i = 0; i < of_loss.size(); ++i) head.weights[i] *= -of_loss[i];
  }
}

}  // namespace

std::vector<AttentionMap> attentions_of(const Context& cx, Model& model, const IdPair& pair) {
  std::vector<AttentionMap> maps;
  for (const Seen& seen : observed_pass(cx, model, pair, nullptr)) maps.push_back(map_of(seen));
  return maps;
}

std::vector<AttentionMap> gradient_times_attention(const Context& cx, Model& model, const IdPair& pair) {
  Tape tape;
  std::vector<AttentionMap> maps;
  for (const Seen& seen : observed_pass(cx, model, pair, &tape))
    multiply_by_gradient(cx, seen, maps.emplace_back(map_of(seen)));
  return maps;
}

HeadMap mean_of(const AttentionMap& map) {
  HeadMap mean{HeadMap::mean, std::vector<float>(size_t(map.queries * map.keys))};
  for (const HeadMap& head : map.heads)
    for (size_t i = 0; i < mean.weights.size(); ++i) mean.weights[i] += head.weights[i] / float(map.heads.size());
  return mean;
}

}  // namespace dragoman
