#include "interop/onnx_layers.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "interop/huggingface_files.h"
#include "interop/sinusoid_table.h"
#include "interop/suppressed_bias.h"
#include "model/transformer_parts.h"

namespace dragoman {
namespace {

constexpr float hidden = -1e9f;  // the score of a masked position

}  // namespace

std::string OnnxLayers::vector(const std::string& name) {
  const TensorEntry stored = floating(model_, name);
  return g_.weight(name, stored.shape, [stored] { return floats_of(stored); });
}

std::string OnnxLayers::matrix(const std::string& name) {
  const TensorEntry stored = floating(model_, name);
  const int64_t R = stored.shape[0], C = stored.shape[1];
  return g_.weight(name, {C, R}, [stored, R, C] { return transposed(floats_of(stored), R, C); });
}

std::string OnnxLayers::table(const std::string& name) {
  const TensorEntry stored = floating(model_, name);
  const int64_t D = stored.shape[1], V = stored.shape[0] + (adds_pad(c_) ? 1 : 0);
  return g_.weight(name, {V, D}, [stored, V, D] {
    std::vector<float> values = floats_of(stored);
    values.resize(size_t(V * D));
    return values;
  });
}

std::string OnnxLayers::linear(const std::string& x, const std::string& name) {
  return add(g_.node("MatMul", {x, matrix(name + ".weight")}), vector(name + ".bias"));
}

std::string OnnxLayers::norm(const std::string& x, const std::string& name) {
  const auto epsilon = float(c_.norm_epsilon);
  const std::string weight = vector(name + ".weight");
  if (c_.norm_kind == NormKind::layer)
    return g_.node("LayerNormalization", {x, weight, vector(name + ".bias")},
                   {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  const std::string mean_square = g_.node("ReduceMean", {multiply(x, x)}, {{"axes", std::vector<int64_t>{-1}}});
  return multiply(g_.node("Div", {x, g_.node("Sqrt", {add(mean_square, g_.number(epsilon))})}), weight);
}

// The number of learned positions is limited: all tokens beyond the last one use the last one.
std::string OnnxLayers::position_table(const std::string& side) {
  if (c_.positions == Positions::learned) return vector(side + ".positions.weight");
  return g_.weight("sinusoids", {onnx_sinusoids, c_.dim},
                   [design = sinusoid_design(c_)] { return sinusoid_rows(design, onnx_sinusoids); });
}

std::string OnnxLayers::embed(const std::string& ids, const std::string& positions, const std::string& side) {
  const EmbeddingsConfig& e = c_.embeddings;
  const std::string own = side == "encoder" ? "source_embedding" : "target_embedding";
  const std::string name = e.tied_all ? "embedding" : e.tied_source ? "source_embedding" : own;
  const double scale = e.scale > 0 ? e.scale : std::sqrt(double(c_.dim));
  std::string x = multiply(g_.node("Gather", {table(name + ".weight"), ids}), g_.number(float(scale)));
  if (c_.positions != Positions::none) {
    const bool ends = c_.positions == Positions::learned;
    const std::string known = ends ? g_.node("Min", {positions, g_.number(int64_t{c_.max_positions} - 1)}) : positions;
    x = add(x, g_.node("Gather", {position_table(side), known}));
  }
  return c_.embedding_norm ? norm(x, side + ".embedding_norm") : x;
}

std::string OnnxLayers::split_heads(const std::string& x, int heads, int64_t size) {
  const std::string split = g_.node("Reshape", {x, g_.ints({0, 0, heads, size})});  // (B,S,H,K)
  return g_.node("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

OnnxLayers::KeysAndValues OnnxLayers::keys_and_values(const std::string& x, const std::string& name, int heads) {
  return {split_heads(linear(x, name + ".key"), heads, c_.dim / heads),
          split_heads(linear(x, name + ".value"), heads, c_.dim / heads)};
}

std::string OnnxLayers::attention(const std::string& x, const KeysAndValues& past, const std::string& bias,
                                  const std::string& name, int heads) {
  const int64_t K = c_.dim / heads;
  const std::string queries =
      split_heads(multiply(linear(x, name + ".query"), g_.number(1 / std::sqrt(float(K)))), heads, K);
  const std::string keys = g_.node("Transpose", {past.keys}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  const std::string scores = add(g_.node("MatMul", {queries, keys}), bias);
  const std::string weights = g_.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::string heads_apart = g_.node("MatMul", {weights, past.values});
  const std::string together = g_.node(
      "Reshape",
      {g_.node("Transpose", {heads_apart}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}), g_.ints({0, 0, c_.dim})});
  return c_.attention.projects_result ? linear(together, name + ".output") : together;
}

std::string OnnxLayers::activation(const std::string& x) {
  const auto times = [&](const std::string& value, double factor) { return multiply(value, g_.number(float(factor))); };
  const auto half_of_one_and = [&](const std::string& value) {  // x/2 · (1 + value)
    return multiply(times(x, 0.5), add(value, g_.number(1.0F)));
  };
  switch (c_.activation) {
    case Activation::relu:
      return g_.node("Relu", {x});
    case Activation::tanh:
      return g_.node("Tanh", {x});
    case Activation::swish:
      return multiply(x, g_.node("Sigmoid", {x}));
    case Activation::gelu_sigmoid:
      return multiply(x, g_.node("Sigmoid", {times(x, 1.702)}));
    case Activation::gelu:
      return half_of_one_and(g_.node("Erf", {times(x, 1 / std::numbers::sqrt2)}));
    case Activation::gelu_tanh: {
      const std::string cube = multiply(x, multiply(x, x));
      const std::string inner = add(x, times(cube, 0.044715));
      return half_of_one_and(g_.node("Tanh", {times(inner, std::numbers::sqrt2 * std::numbers::inv_sqrtpi)}));
    }
    case Activation::none:
      return x;
  }
  fail("this activation has no ONNX operator");
}

std::string OnnxLayers::feed_forward(const std::string& x, const std::string& name) {
  std::string inner = activation(linear(x, name + (c_.gated_feed_forward ? ".gate" : ".up")));
  if (c_.gated_feed_forward) inner = multiply(inner, linear(x, name + ".up"));
  return linear(inner, name + ".down");
}

std::string OnnxLayers::hide_all_but(const std::string& visible) {
  return g_.node("Where", {visible, g_.number(0.0F), g_.number(hidden)});
}

std::string OnnxLayers::logits(const std::string& x) {
  const EmbeddingsConfig& e = c_.embeddings;
  const std::string tied = e.tied_all ? "embedding" : e.tied_source ? "source_embedding" : "target_embedding";
  const std::string weights = table((e.ties_output() ? tied : "output") + ".weight");
  std::string y = g_.node("MatMul", {x, g_.node("Transpose", {weights}, {{"perm", std::vector<int64_t>{1, 0}}})});
  if (!e.output_bias && !adds_pad(c_)) return y;
  const int64_t V = c_.target_vocabulary + (adds_pad(c_) ? 1 : 0);
  return add(y, g_.weight("output.bias", {V}, [this, V] {
    std::vector<float> values(size_t(c_.target_vocabulary));
    if (c_.embeddings.output_bias) values = floats_of(floating(model_, "output.bias"));
    values.resize(size_t(V), suppressed_logit);
    return values;
  }));
}

}  // namespace dragoman
