#include "interop/write_ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/alibi_table.h"
#include "interop/export.h"
#include "interop/languages.h"
#include "interop/sinusoid_table.h"
#include "interop/suppressed_bias.h"
#include "interop/write_ctranslate2_bin.h"
#include "io/int8_weights.h"

namespace dragoman {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;
using Output = CTranslate2Output;

constexpr std::string_view expressible_in_ctranslate2[] = {
    "decoder_heads",      "key_size",         "gated_feed_forward", "norm",
    "norm_kind",          "norm_epsilon",     "final_norm",         "embedding_norm",
    "positions",          "position_spacing", "first_position",     "max_positions",
    "relative_positions", "relative_values",  "relative_buckets",   "relative_max_distance",
    "attention_score",    "embedding_scale",  "decoder_start",      "source_bos",
    "source_eos",         "suppressed_ids",   "search_rule"};

// Pieces of languages that are not part of the text.
constexpr std::string_view languages_in_ctranslate2[] = {"source_language", "target_language"};

constexpr int64_t rows_of_sinusoids = 4096;  // CTranslate2 rejects sentences longer than its table
constexpr int buckets_of_alibi = 8192;       // distances below 2,048 have ranges of their own on both sides

/// All variables of a model, by name.
class Variables {
 public:
  explicit Variables(const ModelFile& model) : model_(model), c_(model.config()), out_(model.tensors().path()) {}

  void all();
  const Output& output() const { return out_; }

 private:
  const TensorEntry& weight(const std::string& name) const { return model_.tensors().get(name); }
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
  void biases(const std::string& side, int layers, const BucketDesign& design, int64_t heads,
              const std::function<Bytes()>& make);
  void alibi(const std::string& side, int layers, int heads);
  void self_attention_positions(const std::string& theirs, const std::string& ours, const ModelConfig& side);
  void layer(const std::string& theirs, const std::string& ours, const ModelConfig& side, bool cross);

  const ModelFile& model_;
  const ModelConfig& c_;
  Output out_;
};

Bytes bytes_for_ctranslate2(const TensorEntry& weight) {
  return weight.dtype == DType::f64 ? raw_bytes(floats_of(weight)) : Bytes(weight.bytes.begin(), weight.bytes.end());
}

// Concatenates the rows of matrices of the same type. CTranslate2 has no float64, which becomes float32.
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
  out_.add({theirs, Output::type_of(dtype == DType::f64 ? DType::f32 : dtype), shape, [parts] {
              Bytes all;
              for (const TensorEntry* part : parts) {
                const Bytes bytes = bytes_for_ctranslate2(*part);
                all.insert(all.end(), bytes.begin(), bytes.end());
              }
              return all;
            }});
  if (dtype != DType::i8) return;
  std::vector<const TensorEntry*> scales;
  for (const std::string& name : ours) scales.push_back(&weight(scale_name(name)));
  // A row of zeros has the scale 0; CTranslate2 gives it the divisor 1.
  out_.add({theirs + "_scale", Output::Type::f32, {rows}, [scales] {
              std::vector<float> divisors;
              for (const TensorEntry* part : scales)
                for (const float scale : values_of<float>(*part)) divisors.push_back(scale == 0 ? 1 : 1 / scale);
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
    out_.alias(alias, of);
    if (out_.has(of + "_scale")) out_.alias(alias + "_scale", of + "_scale");
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
  out_.add({theirs, Output::type_of(bias.dtype), bias.shape, bias.make});
}

// Both sides share the sinusoids.
void Variables::positions(const std::string& side) {
  const std::string encodings = "/position_encodings/encodings";
  if (!sinusoids_added(c_.positions) && c_.positions != Positions::learned) return;  // they act in self-attention
  if (c_.positions == Positions::learned) return join(side + encodings, {side + ".positions.weight"});
  if (side == "decoder") return out_.alias(side + encodings, "encoder" + encodings);
  const SinusoidDesign design{
      c_.dim, c_.positions == Positions::interleaved ? SinusoidOrder::interleaved : SinusoidOrder::halves,
      c_.position_spacing == PositionSpacing::tensor2tensor, c_.first_position};
  out_.add({side + encodings, Output::Type::f32, {rows_of_sinusoids, c_.dim}, [design] {
              return raw_bytes(sinusoid_rows(design, rows_of_sinusoids));
            }});
}

// Only the first layer has a table (buckets,H); CTranslate2 needs one, and the distance, in each.
void Variables::biases(const std::string& side, int layers, const BucketDesign& design, int64_t heads,
                       const std::function<Bytes()>& make) {
  const std::string table = "relative_attention_bias";
  const auto scope = [&](int layer) { return fmt::format("{}/layer_{}/self_attention/", side, layer); };
  out_.add({scope(0) + table, Output::Type::f32, {design.buckets, heads}, make});
  for (int l = 0; l < layers; ++l) {
    if (l > 0) out_.alias(scope(l) + table, scope(0) + table);
    out_.integer(scope(l) + "relative_attention_max_distance", design.longest);
  }
}

void Variables::relative_biases(const std::string& side, int layers) {
  const TensorEntry ours = floating(model_, side + ".relative_bias.weight");  // (H,buckets)
  const int64_t heads = ours.shape[0], buckets = ours.shape[1];
  biases(side, layers, {c_.relative_buckets, c_.relative_max_distance, side == "decoder"}, heads,
         [=] { return raw_bytes(transposed(floats_of(ours), heads, buckets)); });
}

// CTranslate2 has ALiBi in decoders only, but T5's biases on both sides.
void Variables::alibi(const std::string& side, int layers, int heads) {
  const BucketDesign design{buckets_of_alibi, buckets_of_alibi, side == "decoder"};
  biases(side, layers, design, heads, [=] { return raw_bytes(alibi_table(design, heads)); });
}

void Variables::self_attention_positions(const std::string& theirs, const std::string& ours, const ModelConfig& side) {
  if (c_.positions == Positions::rotary) {
    out_.integer(theirs + "/rotary_dim", side.head_keys());
    out_.flag(theirs + "/rotary_interleave", 0);
    out_.number(theirs + "/rotary_base", 10000);
  }
  if (c_.positions != Positions::relative) return;
  const TensorEntry keys = floating(model_, ours + ".distance.weight");
  if (keys.dtype == weight(ours + ".distance.weight").dtype)
    join(theirs + "/relative_position_keys", {ours + ".distance.weight"});
  else
    out_.add({theirs + "/relative_position_keys", Output::Type::f32, keys.shape,
              [=] { return raw_bytes(floats_of(keys)); }});
  if (!c_.relative_values) return;
  const TensorEntry values = floating(model_, ours + ".distance_value.weight");
  const int64_t size = values.shape[0], vectors = values.shape[1];
  out_.add({theirs + "/relative_position_values", Output::Type::f32, {vectors, size}, [=] {
              return raw_bytes(transposed(floats_of(values), size, vectors));
            }});
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
    out_.number(theirs + "/queries_scale", float(scale));
    out_.integer(theirs + "/head_dim", side.head_keys());
  }
}

void Variables::layer(const std::string& theirs, const std::string& ours, const ModelConfig& side, bool cross) {
  attention(theirs + "self_attention", ours + "self_attention", side, {{"query", "key", "value"}, {"output"}});
  self_attention_positions(theirs + "self_attention", ours + "self_attention", side);
  if (cross) attention(theirs + "attention", ours + "cross_attention", side, {{"query"}, {"key", "value"}, {"output"}});
  const std::string network = ours + "feed_forward";
  linear(theirs + "ffn/linear_0", {network + (c_.gated_feed_forward ? ".gate" : ".up")});
  if (c_.gated_feed_forward) linear(theirs + "ffn/linear_0_noact", {network + ".up"});
  linear(theirs + "ffn/linear_1", {network + ".down"});
  norm(theirs + "ffn/layer_norm", network + "_norm");
}

// -1: CTranslate2 does not have it.
int number_of(Activation activation) {
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
  return -1;
}

void Variables::side(const std::string& name, int layers, const ModelConfig& config) {
  out_.small_number(name + "/num_heads", config.heads);
  out_.flag(name + "/pre_norm", c_.norm == NormPlacement::pre);
  out_.flag(name + "/activation", number_of(c_.activation));
  out_.number(name + "/scale_embeddings",
              c_.embeddings.scale == 0 ? std::sqrt(float(c_.dim)) : float(c_.embeddings.scale));
  if (c_.positions == Positions::relative_bias)
    relative_biases(name, layers);
  else if (c_.positions == Positions::alibi)
    alibi(name, layers, config.heads);
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
  out_.flag("encoder/embeddings_merge", 0);
  out_.small_number("decoder/alignment_layer", c_.alignment.layer - 1);  // -1: the last
  out_.small_number("decoder/alignment_heads", c_.alignment.heads);
  out_.flag("decoder/start_from_zero_embedding", c_.decoder_start == DecoderStart::zero);
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

// A folder of CTranslate2 does not say where a model takes its languages: dragoman guesses it from the pieces. Whether
// it will guess what the model has.
bool languages_come_back(const ModelFile& model) {
  const GenerationConfig& g = model.config().generation;
  const auto& [source, target] = model.vocabularies();
  const bool first = model.config().positions != Positions::relative_bias && lists_languages(target);
  if (g.target_language == TargetLanguage::target) return g.source_language == SourceLanguage::first && first;
  return g.source_language == SourceLanguage::none && !first && has_languages_in_source(source);
}

void require_expressible(const ModelFile& model) {
  std::vector<std::string_view> keys(std::begin(expressible_in_ctranslate2), std::end(expressible_in_ctranslate2));
  if (languages_come_back(model))
    keys.insert(keys.end(), std::begin(languages_in_ctranslate2), std::end(languages_in_ctranslate2));
  const GenerationConfig& g = model.config().generation;
  const bool stored = g.source_language_id >= 0 || g.target_language_id >= 0;
  require_fields(model, keys, "CTranslate2", {},
                 stored ? "write the model without --source-lang and --target-lang, if they were given; " : "");
}

// Fields of which CTranslate2 has some values.
void require_kinds(const ModelFile& model) {
  const ModelConfig& c = model.config();
  const auto check = [&](bool known, const char* field, std::string_view value, const char* all) {
    require(known, "{}: its '{}' is {}, which cannot be written for CTranslate2 (only {})", model.tensors().path(),
            field, value, all);
  };
  check(number_of(c.activation) >= 0, "activation", name_of(c.activation),
        "relu, gelu, gelu-tanh, gelu-sigmoid, swish");
  check(c.positions != Positions::none, "positions", name_of(c.positions),
        "sinusoidal, interleaved, learned, relative, rotary, relative-bias, alibi");
  check(c.norm_kind != NormKind::batch, "norm_kind", name_of(c.norm_kind), "layer, rms");
  check(c.attention.score == AttentionScore::dot || c.attention.score == AttentionScore::scaled_dot, "attention_score",
        name_of(c.attention.score), "scaled-dot, dot");
}

}  // namespace

void write_ctranslate2(const ModelFile& model, const std::string& path) {
  require_expressible(model);
  require_kinds(model);
  Variables variables(model);
  variables.all();
  const Vocabulary &source = model.vocabularies().source, &target = model.vocabularies().target;
  const json sources = pieces_of(source, "source"), targets = pieces_of(target, "target");
  write_folder(path, [&](const OutputFolder& folder) {
    write_atomically(folder.file("model.bin"), [&](FileWriter& out) { variables.output().write(out); });
    folder.write("config.json", configuration_of(model));
    if (source.bytes() == target.bytes()) {
      folder.write("shared_vocabulary.json", sources.dump());
    } else {
      folder.write("source_vocabulary.json", sources.dump());
      folder.write("target_vocabulary.json", targets.dump());
    }
    write_splitting(folder, source, "source"), write_splitting(folder, target, "target");
  });
}

}  // namespace dragoman
