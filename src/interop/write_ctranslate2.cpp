#include "interop/write_ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/export.h"
#include "interop/sinusoid_table.h"
#include "interop/suppressed_bias.h"
#include "io/int8_weights.h"

namespace dragoman {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

constexpr std::string_view expressible_in_ctranslate2[] = {"decoder_heads",      "key_size",
                                                           "gated_feed_forward", "norm",
                                                           "norm_kind",          "norm_epsilon",
                                                           "final_norm",         "embedding_norm",
                                                           "positions",          "position_spacing",
                                                           "first_position",     "max_positions",
                                                           "relative_buckets",   "relative_max_distance",
                                                           "attention_score",    "embedding_scale",
                                                           "decoder_start",      "source_bos",
                                                           "source_eos",         "suppressed_ids",
                                                           "search_rule"};

constexpr int64_t rows_of_sinusoids = 4096;  // CTranslate2 rejects sentences longer than its table

template <class T>
Bytes raw_bytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct OutputVariable {
  std::string name;
  uint8_t type;
  std::vector<int64_t> shape;
  std::function<Bytes()> make;
};

uint8_t type_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return 1;
    case DType::f16:
      return 4;
    case DType::bf16:
      return 5;
    default:
      return 0;
  }
}

/// All variables of a model, by name.
class Variables {
 public:
  explicit Variables(const ModelFile& model) : model_(model), c_(model.config()) {}

  void all();
  void write(FileWriter& out) const;

 private:
  const TensorEntry& weight(const std::string& name) const { return model_.tensors().get(name); }
  void flag(const std::string& name, int8_t value) { number<int8_t>(name, 1, value); }
  template <class T>
  void number(const std::string& name, uint8_t type, T value) {
    variables_.push_back({name, type, {}, [value] { return raw_bytes(std::vector<T>{value}); }});
  }
  void join(const std::string& theirs, const std::vector<std::string>& ours);
  void linear(const std::string& theirs, const std::vector<std::string>& ours);
  void norm(const std::string& theirs, const std::string& ours);
  void embeddings();
  void output_bias();
  void side(const std::string& name, int layers, const ModelConfig& config);
  void positions(const std::string& side);
  void attention(const std::string& theirs, const std::string& ours, const ModelConfig& side,
                 const std::vector<std::vector<const char*>>& joined);
  void relative_biases(const std::string& side, int layers);
  void layer(const std::string& theirs, const std::string& ours, const ModelConfig& side, bool cross);

  const ModelFile& model_;
  const ModelConfig& c_;
  std::vector<OutputVariable> variables_;
  std::vector<std::pair<std::string, std::string>> aliases_;
};

// Concatenates the rows of matrices of the same type.
void Variables::join(const std::string& theirs, const std::vector<std::string>& ours) {
  std::vector<const TensorEntry*> parts;
  int64_t rows = 0;
  for (const std::string& name : ours) parts.push_back(&weight(name)), rows += parts.back()->shape[0];
  const DType dtype = parts[0]->dtype;
  for (const TensorEntry* part : parts)
    require(part->dtype == dtype, "{}: {} is of {}, but {} of {}", model_.tensors().path(), part->name, part->dtype,
            parts[0]->name, dtype);
  std::vector<int64_t> shape = parts[0]->shape;
  shape[0] = rows;
  variables_.push_back({theirs, type_of(dtype), shape, [parts] {
                          Bytes all;
                          for (const TensorEntry* part : parts)
                            all.insert(all.end(), part->bytes.begin(), part->bytes.end());
                          return all;
                        }});
  if (dtype != DType::i8) return;
  std::vector<const TensorEntry*> scales;
  for (const std::string& name : ours) scales.push_back(&weight(scale_name(name)));
  // A row of zeros has the scale 0; CTranslate2 gives it the divisor 1.
  variables_.push_back({theirs + "_scale", 0, {rows}, [scales] {
                          std::vector<float> divisors;
                          for (const TensorEntry* part : scales)
                            for (const float scale : values_of<float>(*part))
                              divisors.push_back(scale == 0 ? 1 : 1 / scale);
                          return raw_bytes(divisors);
                        }});
}

void Variables::linear(const std::string& theirs, const std::vector<std::string>& ours) {
  std::vector<std::string> weights, biases;
  for (const std::string& name : ours) weights.push_back(name + ".weight"), biases.push_back(name + ".bias");
  join(theirs + "/weight", weights);
  join(theirs + "/bias", biases);
}

void Variables::norm(const std::string& theirs, const std::string& ours) {
  join(theirs + "/gamma", {ours + ".weight"});
  if (c_.norm_kind != NormKind::rms) join(theirs + "/beta", {ours + ".bias"});
}

void Variables::embeddings() {
  const EmbeddingsConfig& e = c_.embeddings;
  const std::string source = "encoder/embeddings_0/weight", target = "decoder/embeddings/weight",
                    output = "decoder/projection/weight";
  join(source, {e.tied_all ? "embedding.weight" : "source_embedding.weight"});
  const auto tie = [&](const std::string& alias, const std::string& of) {
    aliases_.emplace_back(alias, of);
    if (std::ranges::count(variables_, of + "_scale", &OutputVariable::name) > 0)
      aliases_.emplace_back(alias + "_scale", of + "_scale");
  };
  if (e.ties_source())
    tie(target, source);
  else
    join(target, {"target_embedding.weight"});
  if (e.ties_output())
    tie(output, e.ties_source() ? source : target);
  else
    join(output, {"output.weight"});
  output_bias();
}

// CTranslate2 has no list of pieces that are never generated, not even for the one that the decoder begins with.
void Variables::output_bias() {
  const std::string theirs = "decoder/projection/bias", ours = "output.bias";
  const bool has_bias = c_.embeddings.output_bias;
  std::vector<int> suppressed = c_.generation.suppressed;
  if (c_.decoder_start == DecoderStart::pad) suppressed.push_back(c_.special.pad);
  if (suppressed.empty()) {
    if (has_bias) join(theirs, {ours});
    return;
  }
  const TensorEntry bias = suppressed_bias(has_bias ? &weight(ours) : nullptr, c_.target_vocabulary, suppressed);
  variables_.push_back({theirs, type_of(bias.dtype), bias.shape, bias.make});
}

// Both sides share the sinusoids.
void Variables::positions(const std::string& side) {
  const std::string encodings = "/position_encodings/encodings";
  if (c_.positions == Positions::learned) return join(side + encodings, {side + ".positions.weight"});
  if (side == "decoder") return void(aliases_.emplace_back(side + encodings, "encoder" + encodings));
  const SinusoidDesign design{
      c_.dim, c_.positions == Positions::interleaved ? SinusoidOrder::interleaved : SinusoidOrder::halves,
      c_.position_spacing == PositionSpacing::tensor2tensor, c_.first_position};
  variables_.push_back({side + encodings, 0, {rows_of_sinusoids, c_.dim}, [design] {
                          return raw_bytes(sinusoid_rows(design, rows_of_sinusoids));
                        }});
}

// Only the first layer has a table; CTranslate2 needs one, and the distance, in each.
void Variables::relative_biases(const std::string& side, int layers) {
  const std::string table = "relative_attention_bias";
  const auto scope = [&](int layer) { return fmt::format("{}/layer_{}/self_attention/", side, layer); };
  const TensorEntry ours = floating(model_, side + ".relative_bias.weight");  // (H,buckets)
  const int64_t heads = ours.shape[0], buckets = ours.shape[1];
  variables_.push_back(
      {scope(0) + table, 0, {buckets, heads}, [=] { return raw_bytes(transposed(floats_of(ours), heads, buckets)); }});
  for (int l = 0; l < layers; ++l) {
    if (l > 0) aliases_.emplace_back(scope(l) + table, scope(0) + table);
    number<int32_t>(scope(l) + "relative_attention_max_distance", 3, c_.relative_max_distance);
  }
}

// Each of the `joined` roles becomes a layer linear_0, linear_1 and so on.
void Variables::attention(const std::string& theirs, const std::string& ours, const ModelConfig& side,
                          const std::vector<std::vector<const char*>>& joined) {
  for (size_t i = 0; i < joined.size(); ++i) {
    std::vector<std::string> names;
    for (const char* role : joined[i]) names.push_back(fmt::format("{}.{}", ours, role));
    linear(fmt::format("{}/linear_{}", theirs, i), names);
  }
  norm(theirs + "/layer_norm", ours + "_norm");
  const double scale = c_.attention.score == AttentionScore::dot ? 1 : 1 / std::sqrt(double(side.head_keys()));
  if (c_.attention.score == AttentionScore::dot || c_.key_size > 0) {
    number<float>(theirs + "/queries_scale", 0, float(scale));
    number<int32_t>(theirs + "/head_dim", 3, side.head_keys());
  }
}

void Variables::layer(const std::string& theirs, const std::string& ours, const ModelConfig& side, bool cross) {
  attention(theirs + "self_attention", ours + "self_attention", side, {{"query", "key", "value"}, {"output"}});
  if (cross) attention(theirs + "attention", ours + "cross_attention", side, {{"query"}, {"key", "value"}, {"output"}});
  const std::string network = ours + "feed_forward";
  linear(theirs + "ffn/linear_0", {network + (c_.gated_feed_forward ? ".gate" : ".up")});
  if (c_.gated_feed_forward) linear(theirs + "ffn/linear_0_noact", {network + ".up"});
  linear(theirs + "ffn/linear_1", {network + ".down"});
  norm(theirs + "ffn/layer_norm", network + "_norm");
}

int activation_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return 0;
    case Activation::gelu_tanh:
      return 1;
    case Activation::swish:
      return 2;
    case Activation::gelu:
      return 3;
    case Activation::gelu_sigmoid:
      return 4;
    case Activation::tanh:
    case Activation::none:
      break;
  }
  fail("feed-forward layers have the activation {}, which CTranslate2 does not support", name_of(activation));
}

void Variables::side(const std::string& name, int layers, const ModelConfig& config) {
  number<int16_t>(name + "/num_heads", 2, int16_t(config.heads));
  flag(name + "/pre_norm", c_.norm == NormPlacement::pre);
  flag(name + "/activation", int8_t(activation_of(c_.activation)));
  number<float>(name + "/scale_embeddings", 0,
                c_.embeddings.scale == 0 ? std::sqrt(float(c_.dim)) : float(c_.embeddings.scale));
  if (c_.positions == Positions::relative_bias)
    relative_biases(name, layers);
  else
    positions(name);
  if (c_.embedding_norm) norm(name + "/layernorm_embedding", name + ".embedding_norm");
  if (c_.has_final_norm()) norm(name + "/layer_norm", name + ".norm");
  for (int l = 0; l < layers; ++l) {
    const bool decoder = name == "decoder";
    layer(fmt::format("{}/layer_{}/", name, l),
          fmt::format("{}.{}.", name, decoder ? c_.weights_of_decoder_layer(l) : l), config, decoder);
  }
}

void Variables::all() {
  embeddings();
  side("encoder", c_.encoder_layers, c_);
  side("decoder", c_.decoder_layers, c_.decoder_side());
  flag("encoder/embeddings_merge", 0);
  number<int16_t>("decoder/alignment_layer", 2, int16_t(c_.alignment.layer - 1));  // -1: the last
  number<int16_t>("decoder/alignment_heads", 2, int16_t(c_.alignment.heads));
  flag("decoder/start_from_zero_embedding", c_.decoder_start == DecoderStart::zero);
}

template <class T>
void put_number(FileWriter& out, T number) {
  out.write(&number, sizeof(number));
}

void put_text(FileWriter& out, const std::string& text) {
  put_number(out, uint16_t(text.size() + 1));
  out.write(text.c_str(), text.size() + 1);
}

void Variables::write(FileWriter& out) const {
  constexpr uint32_t version = 6, revision = 7;
  put_number(out, version);
  put_text(out, "TransformerSpec");
  put_number(out, revision);
  put_number(out, uint32_t(variables_.size()));
  for (const OutputVariable& v : variables_) {
    const Bytes bytes = v.make();
    require(bytes.size() <= std::numeric_limits<uint32_t>::max(),
            "{} has {} bytes, more than CTranslate2's format allows", v.name, bytes.size());
    put_text(out, v.name);
    put_number(out, uint8_t(v.shape.size()));
    for (const int64_t size : v.shape) put_number(out, uint32_t(size));
    put_number(out, v.type);
    put_number(out, uint32_t(bytes.size()));
    out.write(bytes.data(), bytes.size());
  }
  put_number(out, uint32_t(aliases_.size()));
  for (const auto& [alias, of] : aliases_) put_text(out, alias), put_text(out, of);
}

std::string configuration_of(const ModelFile& model) {
  const ModelConfig& c = model.config();
  const Vocabulary& target = model.vocabularies().target;
  const auto piece = [&](int id) { return id < 0 ? std::string("<s>") : target.piece(id); };
  const int start = c.first_token();
  const int bos = c.special.bos == c.special.unk ? c.special.pad : c.special.bos;  // as in MADLAD-400
  return json{{"add_source_bos", c.generation.source_bos},
              {"add_source_eos", c.generation.source_eos},
              {"bos_token", piece(bos)},
              {"eos_token", piece(c.special.eos)},
              {"unk_token", piece(c.special.unk)},
              {"decoder_start_token", piece(start < 0 ? c.special.eos : start)},
              {"layer_norm_epsilon", c.norm_epsilon}}
             .dump(2) +
         "\n";
}

// Fields of which CTranslate2 has some values.
void require_kinds(const ModelFile& model) {
  const ModelConfig& c = model.config();
  const auto check = [&](bool known, const char* field, std::string_view value, const char* all) {
    require(known, "{}: its '{}' is {}, which cannot be written for CTranslate2 (only {})", model.tensors().path(),
            field, value, all);
  };
  check(sinusoids_added(c.positions) || has_position_table(c.positions), "positions", name_of(c.positions),
        "sinusoidal, interleaved, learned, relative-bias");
  check(c.norm_kind != NormKind::batch, "norm_kind", name_of(c.norm_kind), "layer, rms");
  check(c.attention.score == AttentionScore::dot || c.attention.score == AttentionScore::scaled_dot, "attention_score",
        name_of(c.attention.score), "scaled-dot, dot");
}

}  // namespace

void write_ctranslate2(const ModelFile& model, const std::string& path) {
  require_fields(model, expressible_in_ctranslate2, "CTranslate2");
  require_kinds(model);
  Variables variables(model);
  variables.all();
  write_folder(path, [&](const OutputFolder& folder) {
    write_atomically(folder.file("model.bin"), [&](FileWriter& out) { variables.write(out); });
    folder.write("config.json", configuration_of(model));
    const auto& [source, target] = model.vocabularies();
    if (source.bytes() == target.bytes()) {
      folder.write("shared_vocabulary.json", json(pieces_of(source)).dump());
    } else {
      folder.write("source_vocabulary.json", json(pieces_of(source)).dump());
      folder.write("target_vocabulary.json", json(pieces_of(target)).dump());
    }
    write_splitting(folder, source, "source"), write_splitting(folder, target, "target");
  });
}

}  // namespace dragoman
