#include "interop/write_onnx.h"

#include <fmt/format.h>

#include "base/error.h"
#include "interop/export.h"
#include "interop/huggingface_files.h"
#include "interop/onnx_layers.h"

namespace dragoman {
namespace {

constexpr std::string_view expressible_in_onnx[] = {"decoder_heads",
                                                    "gated_feed_forward",
                                                    "norm",
                                                    "norm_kind",
                                                    "norm_epsilon",
                                                    "final_norm",
                                                    "embedding_norm",
                                                    "positions",
                                                    "position_spacing",
                                                    "first_position",
                                                    "max_positions",
                                                    "attention_projects_result",
                                                    "embedding_scale",
                                                    "decoder_start",
                                                    "target_language",
                                                    "target_language_id",
                                                    "target_language_blank_id",
                                                    "suppressed_ids",
                                                    "search_rule"};

constexpr const char *batch = "batch_size", *read = "encoder_sequence_length";

// Padding mask (B,S) of 0 and 1 → attention bias (B,1,1,S).
std::string hide_padding(OnnxGraph& g, OnnxLayers& layers, const std::string& mask) {
  const std::string visible = g.node("Cast", {mask}, {{"to", int64_t(OnnxType::boolean)}});
  return layers.hide_all_but(g.node("Unsqueeze", {visible, g.ints({1, 2})}));
}

// The size of a dimension, ().
std::string size_of(OnnxGraph& g, const std::string& value, int64_t dim) {
  return g.node("Gather", {g.node("Shape", {value}), g.number(dim)});
}

void write_encoder(const ModelFile& model, const std::string& path) {
  const ModelConfig& c = model.config();
  OnnxGraph g("encoder");
  OnnxLayers layers(g, model);
  const std::string ids = g.input("input_ids", OnnxType::int64, {batch, read});
  const std::string mask = g.input("attention_mask", OnnxType::int64, {batch, read});
  const std::string positions = g.node("Range", {g.number(int64_t{0}), size_of(g, ids, 1), g.number(int64_t{1})});
  const std::string bias = hide_padding(g, layers, mask);
  std::string x = layers.embed(ids, positions, "encoder");
  for (int l = 0; l < c.encoder_layers; ++l) {
    const std::string at = fmt::format("encoder.{}.", l), self = at + "self_attention", inner = at + "feed_forward";
    x = layers.sublayer(x, self + "_norm", [&](const std::string& y) {
      return layers.attention(y, layers.keys_and_values(y, self, c.heads), bias, self, c.heads);
    });
    x = layers.sublayer(x, inner + "_norm", [&](const std::string& y) { return layers.feed_forward(y, inner); });
  }
  if (c.has_final_norm()) x = layers.norm(x, "encoder.norm");
  g.output("last_hidden_state", x, OnnxType::float32, {batch, read, int64_t{c.dim}});
  g.write(path);
}

/// Builds the decoder, which decodes some tokens, given the keys and values of the previous ones.
class DecoderGraph {
 public:
  explicit DecoderGraph(const ModelFile& model)
      : model_(model), c_(model.config()), H_(c_.decoder_side().heads), g_("decoder"), layers_(g_, model) {}

  void write(const std::string& path);

 private:
  using KeysAndValues = OnnxLayers::KeysAndValues;

  void take_inputs();
  KeysAndValues past_input(int layer, const std::string& side, const char* length);
  void present_output(int layer, const std::string& side, const char* length, const KeysAndValues& present);
  void locate();
  void choose_memories();
  KeysAndValues with_past(const KeysAndValues& past, const KeysAndValues& now);
  std::string layer(const std::string& x, int l);
  // The layer whose weights this layer uses.
  std::string weights_of(int l) const { return fmt::format("decoder.{}.", c_.weights_of_decoder_layer(l)); }

  const ModelFile& model_;
  const ModelConfig& c_;
  const int H_;
  OnnxGraph g_;
  OnnxLayers layers_;
  std::string ids_, memory_, cached_;       // inputs
  std::vector<KeysAndValues> past_, read_;  // per layer: of the previous tokens, of the source
  std::string past_tokens_, positions_;     // (1) and (S)
  std::string hide_later_, hide_padding_;   // biases
};

constexpr const char *written = "decoder_sequence_length", *before = "past_decoder_sequence_length",
                     *together = "past_decoder_sequence_length + decoder_sequence_length";

DecoderGraph::KeysAndValues DecoderGraph::past_input(int layer, const std::string& side, const char* length) {
  const auto input = [&](const char* what) {
    return g_.input(fmt::format("past_key_values.{}.{}.{}", layer, side, what), OnnxType::float32,
                    {batch, int64_t{H_}, length, int64_t{c_.dim / H_}});
  };
  std::string keys = input("key");
  return {std::move(keys), input("value")};
}

void DecoderGraph::present_output(int layer, const std::string& side, const char* length,
                                  const KeysAndValues& present) {
  for (const auto& [what, value] : {std::pair("key", &present.keys), {"value", &present.values}})
    g_.output(fmt::format("present.{}.{}.{}", layer, side, what), *value, OnnxType::float32,
              {batch, int64_t{H_}, length, int64_t{c_.dim / H_}});
}

void DecoderGraph::take_inputs() {
  const std::string mask = g_.input("encoder_attention_mask", OnnxType::int64, {batch, read});
  ids_ = g_.input("input_ids", OnnxType::int64, {batch, written});
  memory_ = g_.input("encoder_hidden_states", OnnxType::float32, {batch, read, int64_t{c_.dim}});
  for (int l = 0; l < c_.decoder_layers; ++l) {
    past_.push_back(past_input(l, "decoder", before));
    read_.push_back(past_input(l, "encoder", "past_encoder_sequence_length"));
  }
  cached_ = g_.input("use_cache_branch", OnnxType::boolean, {int64_t{1}});
  hide_padding_ = hide_padding(g_, layers_, mask);
}

// If the cache is not in use, the given past is ignored, whatever its length.
void DecoderGraph::locate() {
  const std::string given = g_.node("Gather", {g_.node("Shape", {past_[0].keys}), g_.ints({2})});
  past_tokens_ = g_.node("Mul", {given, g_.node("Cast", {cached_}, {{"to", int64_t(OnnxType::int64)}})});
  const std::string first = g_.node("Squeeze", {past_tokens_}), zero = g_.number(int64_t{0}),
                    one = g_.number(int64_t{1});
  const std::string end = layers_.add(first, size_of(g_, ids_, 1));
  positions_ = g_.node("Range", {first, end, one});
  const std::string all = g_.node("Range", {zero, end, one});
  const std::string row = g_.node("Unsqueeze", {positions_, g_.ints({1})});  // (S,1)
  hide_later_ = layers_.hide_all_but(g_.node("LessOrEqual", {all, row}));    // (S,T)
}

// Keys and values of the source: those given, or else computed from the encoder output.
void DecoderGraph::choose_memories() {
  OnnxGraph given("cached", g_), made("first", g_);
  OnnxLayers made_layers(made, model_);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::string& old, const std::string& now) {
    const std::vector<OnnxDim> shape = {batch, int64_t{H_}, "length", int64_t{c_.dim / H_}};
    given.output("cached/" + name, old, OnnxType::float32, shape);
    made.output("first/" + name, now, OnnxType::float32, shape);
    names.push_back(name);
  };
  for (int l = 0; l < c_.decoder_layers; ++l) {
    const auto [keys, values] = made_layers.keys_and_values(memory_, weights_of(l) + "cross_attention", H_);
    KeysAndValues& old = read_[size_t(l)];
    add(fmt::format("source_keys_{}", l), old.keys, keys), add(fmt::format("source_values_{}", l), old.values, values);
    old = {fmt::format("source_keys_{}", l), fmt::format("source_values_{}", l)};
  }
  g_.node("If", {cached_}, names, {{"then_branch", &given}, {"else_branch", &made}});
}

DecoderGraph::KeysAndValues DecoderGraph::with_past(const KeysAndValues& past, const KeysAndValues& now) {
  const auto join = [&](const std::string& old, const std::string& added) {
    const std::string seen = g_.node("Slice", {old, g_.ints({0}), past_tokens_, g_.ints({2})});
    return g_.node("Concat", {seen, added}, {{"axis", int64_t{2}}});
  };
  return {join(past.keys, now.keys), join(past.values, now.values)};
}

std::string DecoderGraph::layer(const std::string& x, int l) {
  const std::string at = weights_of(l), self = at + "self_attention", cross = at + "cross_attention",
                    inner = at + "feed_forward";
  std::string y = layers_.sublayer(x, self + "_norm", [&](const std::string& z) {
    const KeysAndValues present = with_past(past_[size_t(l)], layers_.keys_and_values(z, self, H_));
    present_output(l, "decoder", together, present);
    return layers_.attention(z, present, hide_later_, self, H_);
  });
  y = layers_.sublayer(y, cross + "_norm", [&](const std::string& z) {
    return layers_.attention(z, read_[size_t(l)], hide_padding_, cross, H_);
  });
  present_output(l, "encoder", read, read_[size_t(l)]);
  return layers_.sublayer(y, inner + "_norm", [&](const std::string& z) { return layers_.feed_forward(z, inner); });
}

void DecoderGraph::write(const std::string& path) {
  take_inputs();
  locate();
  choose_memories();
  std::string x = layers_.embed(ids_, positions_, "decoder");
  for (int l = 0; l < c_.decoder_layers; ++l) x = layer(x, l);
  if (c_.has_final_norm()) x = layers_.norm(x, "decoder.norm");
  const int64_t V = c_.target_vocabulary + (adds_pad(c_) ? 1 : 0);
  g_.output("logits", layers_.logits(x), OnnxType::float32, {batch, written, V});
  g_.write(path);
}

}  // namespace

void write_onnx(const ModelFile& model, const std::string& path) {
  require_fields(model, expressible_in_onnx, "ONNX Runtime");
  const ModelConfig& c = model.config();
  const auto refuse = [&](const char* field, std::string_view value, const char* known) {
    fail("{}: its '{}' is {}, which cannot be written as ONNX (known: {})", model.tensors().path(), field, value,
         known);
  };
  if (!sinusoids_added(c.positions) && c.positions != Positions::learned && c.positions != Positions::none)
    refuse("positions", name_of(c.positions), "sinusoidal, interleaved, learned, none");
  if (c.generation.target_language == TargetLanguage::source && c.generation.target_language_id >= 0)
    throw Error(
        fmt::format("{}: its 'target_language_id' names a piece before each source, which the files of "
                    "MarianTokenizer cannot express",
                    model.tensors().path()),
        "write the model that it was converted from, without --target-lang, and begin each line with the language");
  if (c.norm_kind == NormKind::batch) refuse("norm_kind", name_of(c.norm_kind), "layer, rms");
  write_folder(path, [&](const OutputFolder& folder) {
    write_encoder(model, folder.file("encoder_model.onnx"));
    DecoderGraph(model).write(folder.file("decoder_model_merged.onnx"));
    write_huggingface_files(folder, model);
  });
}

}  // namespace dragoman
