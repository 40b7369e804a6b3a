#include "interop/ctranslate2_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interop/alibi_table.h"
#include "interop/export.h"
#include "interop/rotary_rows.h"
#include "interop/sinusoid_table.h"

namespace dragoman {
namespace {

class PositionMapping {
 public:
  PositionMapping(CTranslate2Variables& variables, ModelConfig& config)
      : v_(variables), w_(variables.weights()), c_(config) {}

  void all();

 private:
  static std::string scope(const std::string& side, int layer) {
    return fmt::format("{}/layer_{}/self_attention", side, layer);
  }
  int layers(const std::string& side) const { return side == "encoder" ? c_.encoder_layers : c_.decoder_layers; }
  /// Calls f with the side, the layer and the scope of each self-attention.
  template <class F>
  void each_self_attention(const F& f) {
    for (const std::string side : {"encoder", "decoder"})
      for (int l = 0; l < layers(side); ++l) f(side, l, scope(side, l));
  }
  bool rotates(const std::string& attention) const { return v_.number(attention, "rotary_dim", -1) >= 0; }
  void rotary();
  void separate_pairs(const std::string& attention, const ModelConfig& side);
  void vectors();
  void biases();
  void biases_of(const std::string& side);
  bool is_alibi(const std::string& side);
  void added();

  CTranslate2Variables& v_;
  WeightMapping& w_;
  ModelConfig& c_;
};

// CTranslate2 rotates the first numbers of a head or all (0), in halves or, by default, as adjacent pairs.
void PositionMapping::rotary() {
  c_.positions = Positions::rotary;
  each_self_attention([&](const std::string& name, int, const std::string& attention) {
    const ModelConfig side = name == "encoder" ? c_ : c_.decoder_side();
    const int rotated = v_.whole_number(attention, "rotary_dim", 0);
    require(rotated == 0 || rotated == side.head_keys(),
            "{}: {}/rotary_dim is {}, expected 0 or {}: dragoman rotates all numbers of a head", v_.path(), attention,
            rotated, side.head_keys());
    for (const auto& [number, expected] : {std::pair("rotary_base", 10000.0),
                                           {"rotary_scaling_type", -1.0},
                                           {"original_max_position_embeddings", 0.0}}) {
      const double found = v_.number(attention, number, expected);
      require(found == expected, "{}: {}/{} is {}, which dragoman does not support", v_.path(), attention, number,
              found);
    }
    if (v_.number(attention, "rotary_interleave", 1) != 0) separate_pairs(attention, side);
  });
}

void PositionMapping::separate_pairs(const std::string& attention, const ModelConfig& side) {
  for (const char* role : {"0", "1"})
    for (const char* part : {"weight", "bias"}) {
      const std::string name = v_.resolved(fmt::format("{}/linear_0.{}/{}", attention, role, part));
      if (w_.has(name)) separate_rotated_pairs(w_, name, side);
    }
}

// A vector for each distance from -R to R, for keys and, in most models, for values.
void PositionMapping::vectors() {
  const auto keys = [&](const std::string& attention) { return v_.resolved(attention + "/relative_position_keys"); };
  const auto values = [&](const std::string& attention) {
    return v_.resolved(attention + "/relative_position_values");
  };
  const std::string first = scope("encoder", 0);
  const int64_t rows = w_.get(keys(first)).shape[0];
  require(rows % 2 == 1 && rows >= 3, "{}: {} has {} rows, expected an odd number of at least 3", v_.path(),
          keys(first), rows);
  c_.positions = Positions::relative;
  c_.relative_positions = int(rows / 2);
  c_.relative_values = w_.has(values(first));
  each_self_attention([&](const std::string& side, int layer, const std::string& attention) {
    const std::string ours = fmt::format("{}.{}.self_attention", side, layer);
    w_.rows(ours + ".distance.weight", keys(attention), 0, rows);
    if (c_.relative_values) w_.columns(ours + ".distance_value.weight", values(attention), rows);
  });
}

// Models written by dragoman have its ALiBi as such a table.
bool PositionMapping::is_alibi(const std::string& side) {
  const ForeignTensor& t = w_.get(v_.resolved(scope(side, 0) + "/relative_attention_bias"));
  const int heads = side == "encoder" ? c_.heads : c_.decoder_side().heads;
  if (t.row_scales || c_.relative_buckets < 4 || t.shape != std::vector<int64_t>{c_.relative_buckets, heads})
    return false;
  const BucketDesign design{c_.relative_buckets, c_.relative_max_distance, side == "decoder"};
  const std::vector<float> found = floats_of({.dtype = t.dtype, .shape = t.shape, .make = t.read});
  return std::ranges::equal(found, alibi_table(design, heads), [](float a, float b) {
    return std::abs(a - b) <= 1e-2f * std::abs(b);  // 16 bits are not exact
  });
}

// T5's positions. All layers share the first one's table, as in CTranslate2 itself.
void PositionMapping::biases_of(const std::string& side) {
  const auto table = [&](int l) { return v_.resolved(scope(side, l) + "/relative_attention_bias"); };
  const int buckets = int(w_.get(table(0)).shape[0]),
            distance = v_.whole_number(scope(side, 0), "relative_attention_max_distance", 128);
  if (side == "encoder") c_.relative_buckets = buckets, c_.relative_max_distance = distance;
  require(buckets == c_.relative_buckets && distance == c_.relative_max_distance,
          "{}: encoder and decoder differ in the ranges of their relative positions", v_.path());
  for (int l = 1; l < layers(side); ++l) {
    const bool same = table(l) == table(0) || w_.get(table(l)).read() == w_.get(table(0)).read();
    require(same && v_.whole_number(scope(side, l), "relative_attention_max_distance", distance) == distance,
            "{}: {} has relative positions of its own, which dragoman does not support", v_.path(), scope(side, l));
    w_.ignore(table(l));
  }
  require(!w_.get(table(0)).row_scales, "{}: {} is in 8 bits, expected floating point", v_.path(), table(0));
}

void PositionMapping::biases() {
  for (const char* side : {"encoder", "decoder"}) biases_of(side);
  const bool alibi = is_alibi("encoder") && is_alibi("decoder");
  c_.positions = alibi ? Positions::alibi : Positions::relative_bias;
  for (const std::string side : {"encoder", "decoder"}) {
    const std::string table = v_.resolved(scope(side, 0) + "/relative_attention_bias");
    if (alibi)
      w_.ignore(table);
    else
      w_.matrix(side + ".relative_bias.weight", table, MatrixRows::inputs);
  }
  if (alibi) c_.relative_buckets = ModelConfig{}.relative_buckets;
  if (alibi) c_.relative_max_distance = ModelConfig{}.relative_max_distance;
}

// A stored table is either sinusoidal, which is recognised, or learned. Without a table, CTranslate2 computes
// tensor2tensor's sinusoids, from position 1.
void PositionMapping::added() {
  const std::string name = v_.resolved("encoder/position_encodings/encodings");
  if (!w_.has(name)) {
    c_.position_spacing = PositionSpacing::tensor2tensor;
    c_.first_position = 1;
    return;
  }
  const ForeignTensor& table = w_.get(name);
  if (const auto design = recognise_sinusoids(table)) {
    c_.positions = design->order == SinusoidOrder::interleaved ? Positions::interleaved : Positions::sinusoidal;
    c_.position_spacing = design->tensor2tensor ? PositionSpacing::tensor2tensor : PositionSpacing::paper;
    c_.first_position = int(design->first);
    for (const char* side : {"encoder", "decoder"})
      w_.ignore(v_.resolved(fmt::format("{}/position_encodings/encodings", side)));
    return;
  }
  c_.positions = Positions::learned;
  c_.max_positions = int(table.shape[0]);
  for (const char* side : {"encoder", "decoder"})
    w_.rows(fmt::format("{}.positions.weight", side), v_.resolved(fmt::format("{}/position_encodings/encodings", side)),
            0, c_.max_positions);
}

void PositionMapping::all() {
  const std::string first = scope("encoder", 0);
  const bool rotary_first = rotates(first);
  each_self_attention([&](const std::string&, int, const std::string& attention) {
    require(rotates(attention) == rotary_first, "{}: {}/rotary_dim is set, but {} has other positions", v_.path(),
            rotary_first ? first : attention, rotary_first ? attention : first);
  });
  if (rotary_first)
    rotary();
  else if (v_.has(first + "/relative_attention_bias"))
    biases();
  else if (v_.has(first + "/relative_position_keys"))
    vectors();
  else
    added();
}

}  // namespace

void set_ctranslate2_positions(CTranslate2Variables& variables, ModelConfig& config) {
  PositionMapping(variables, config).all();
}

}  // namespace dragoman
