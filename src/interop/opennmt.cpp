#include "interop/opennmt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>

#include "base/error.h"
#include "interop/pickle_fields.h"
#include "interop/rotary_rows.h"
#include "interop/splitting.h"
#include "interop/torch_file.h"
#include "interop/weight_mapping.h"
#include "model/validate.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using Pieces = std::vector<std::string>;

void check_kind(const PickleFields& o) {
  for (const char* side : {"encoder_type", "decoder_type"})
    if (const std::string type = o.text(side, "rnn"); type != "transformer")
      throw Error(fmt::format("{}: {} is {}, expected transformer", o.where(), side, type),
                  "dragoman reads only OpenNMT-py's Transformers with an encoder and a decoder");
  const std::string attention = o.text("self_attn_type", "scaled-dot");
  require(attention == "scaled-dot" || attention == "scaled-dot-flash",
          "{}: self_attn_type is {}, expected scaled-dot or scaled-dot-flash", o.where(), attention);
}

// Rejects options that change what a model computes and that dragoman neither supports nor maps.
void refuse_unknown_opennmt_parts(const PickleFields& o) {
  static constexpr std::pair<const char*, const char*> parts[] = {
      {"copy_attn", "its output layer copies words from the source"},
      {"relative_positions_buckets", "each of its layers has biases for distances of its own"},
      {"multiquery", "its heads share keys and values"},
      {"num_kv", "its heads share keys and values"},
      {"parallel_residual", "its layers add attention and feed-forward network in parallel"},
      {"num_experts", "it is a mixture of experts"},
      {"sliding_window", "its attention has a window"},
      {"lora_layers", "its weights are those of LoRA: merge them with OpenNMT-py's tools/lora_weights.py"},
      {"lora_embedding", "its weights are those of LoRA: merge them with OpenNMT-py's tools/lora_weights.py"},
      {"quant_layers", "its weights are quantised"}};
  for (const auto& [name, why] : parts)
    if (o.is_set(name))
      throw Error(fmt::format("{}: {} is set, which dragoman does not support", o.where(), name), why);
  const std::string output = o.text("generator_function", "softmax");
  require(output == "softmax", "{}: generator_function is {}, expected softmax", o.where(), output);
}

// silu always makes gated networks.
void set_feed_forward(ModelConfig& m, const PickleFields& o) {
  m.feed_forward = o.number("transformer_ff", 2048);
  const std::string name = o.text("pos_ffn_activation_fn", "relu");
  for (const auto& [known, activation] : {std::pair("relu", Activation::relu),
                                          {"gelu", Activation::gelu},
                                          {"silu", Activation::swish},
                                          {"gated-gelu", Activation::gelu}})
    if (name == known) {
      m.activation = activation;
      m.gated_feed_forward = name == "silu" || name == "gated-gelu";
      return;
    }
  throw Error(fmt::format("{}: pos_ffn_activation_fn is {}, which dragoman does not support", o.where(), name),
              "relu, gelu, silu and gated-gelu are supported");
}

int same_on_both_sides(const PickleFields& o, const char* ours, const char* theirs) {
  const int number = o.number(ours);
  require(o.number(theirs, number) == number, "{}: {} is {}, expected {}, {}", o.where(), theirs,
          o.number(theirs, number), ours, number);
  return number;
}

void set_added_positions(ModelConfig& m, const PickleFields& o) {
  const std::string type = o.text("position_encoding_type", "SinusoidalInterleaved");
  require(type == "SinusoidalInterleaved" || type == "SinusoidalConcat",
          "{}: position_encoding_type is {}, expected SinusoidalInterleaved or SinusoidalConcat", o.where(), type);
  if (type == "SinusoidalInterleaved")
    m.positions = Positions::interleaved;
  else
    m.position_spacing = PositionSpacing::tensor2tensor;
}

// Versions before 3.5 have no options of rotary positions.
void check_rotary(const ModelConfig& m, const PickleFields& o) {
  require(m.heads > 0, "{}: heads is {}, expected at least 1", o.where(), m.heads);
  const double base = o.real("rotary_theta", 10000);
  require(base == 10000, "{}: rotary_theta is {}, expected 10000", o.where(), base);
  const int rotated = o.number("rotary_dim", 0);
  require(rotated == 0 || rotated == m.head_keys(), "{}: rotary_dim is {}, expected 0 or {}", o.where(), rotated,
          m.head_keys());
}

// The option is the largest distance of Shaw's vectors, which are both keys and values there; -1: rotary, -2: ALiBi.
// Embeddings are scaled if positions are added to them.
void set_opennmt_positions(ModelConfig& m, const PickleFields& o) {
  const bool added = o.flag("position_encoding");
  m.embeddings.scale = added ? 0 : 1;
  const int kind = o.number("max_relative_positions", 0);
  if (kind == 0) {
    if (added)
      set_added_positions(m, o);
    else
      m.positions = Positions::none;
    return;
  }
  require(!added, "{}: max_relative_positions is {} and position_encoding is set, expected one of them", o.where(),
          kind);
  require(kind >= -2, "{}: max_relative_positions is {}, expected at least -2", o.where(), kind);
  m.positions = kind > 0 ? Positions::relative : kind == -1 ? Positions::rotary : Positions::alibi;
  if (kind > 0) m.relative_positions = kind, m.relative_values = true;
  if (kind == -1) check_rotary(m, o);
  require(kind != -2 || std::has_single_bit(unsigned(m.heads)),
          "{}: its positions are alibi with {} heads: dragoman has the slopes of powers of 2 only", o.where(), m.heads);
}

void set_model(ModelConfig& m, const PickleFields& o) {
  m.dim = same_on_both_sides(o, "enc_hid_size", "dec_hid_size");
  for (const char* embeddings : {"src_word_vec_size", "tgt_word_vec_size"})
    same_on_both_sides(o, "enc_hid_size", embeddings);
  m.encoder_layers = o.number("enc_layers");
  m.decoder_layers = o.number("dec_layers");
  m.heads = o.number("heads", 8);
  set_feed_forward(m, o);
  m.norm = NormPlacement::pre;
  m.norm_epsilon = o.real("norm_eps", 1e-6);
  const std::string norm = o.text("layer_norm", "standard");
  require(norm == "standard" || norm == "rms", "{}: layer_norm is {}, expected standard or rms", o.where(), norm);
  if (norm == "rms") m.norm_kind = NormKind::rms;
  if (o.real("lambda_align", 0) > 0)
    m.alignment = alignment_config(o.number("alignment_layer", -3), o.number("alignment_heads", 0), m.decoder_layers);
  set_opennmt_positions(m, o);
  EmbeddingsConfig& e = m.embeddings;
  const bool sides = o.flag("share_embeddings"), output = o.flag("share_decoder_embeddings");
  e.tied_all = sides && output, e.tied_source = sides && !output, e.tied_output = output && !sides;
  e.output_bias = true;
  m.generation.source_eos = false;
  m.generation.search_rule = SearchRule::ctranslate2;  // the most similar rule
}

Pieces pieces_of(const PickleFields& vocab, const char* side) {
  const PickleRef value = vocab.find(side);
  require(value, "{} has no {}", vocab.where(), side);
  const auto* list = value->as<PickleList>();
  if (!list)
    throw Error(fmt::format("{}: {} is {}, expected a list of tokens", vocab.where(), side, description_of(*value)),
                "versions before 3 stored it differently: OpenNMT-py's tools/convertv2_v3.py converts their files");
  Pieces pieces;
  for (const PickleRef item : list->items) {
    require(item->as<std::string>(), "{}: {} holds {}, expected tokens", vocab.where(), side, description_of(*item));
    pieces.push_back(*item->as<std::string>());
  }
  return pieces;
}

SpecialIds special_ids(const Pieces& pieces, const std::string& where) {
  const auto id = [&](const char* piece) {
    const auto found = std::ranges::find(pieces, piece);
    require(found != pieces.end(), "{}: a token list has no {}", where, piece);
    return int(found - pieces.begin());
  };
  return {.unk = id("<unk>"), .bos = id("<s>"), .eos = id("</s>"), .pad = id("<blank>")};
}

Vocabularies vocabularies_of(const PickleFields& vocab, const std::string& path, const std::vector<std::string>& vocabs,
                             ModelConfig& m) {
  require(!vocab.is_set("src_feats"), "{} has features of source words (src_feats), which dragoman does not support",
          vocab.where());
  const std::string start = vocab.text("decoder_start_token", "<s>");
  require(start == "<s>" || start == "</s>", "{}: decoder_start_token is \"{}\", expected <s> or </s>", vocab.where(),
          start);
  m.decoder_start = start == "<s>" ? DecoderStart::bos : DecoderStart::eos;
  const std::array<Pieces, 2> pieces = {pieces_of(vocab, "src"), pieces_of(vocab, "tgt")};
  m.special = special_ids(pieces[1], vocab.where());
  require(special_ids(pieces[0], vocab.where()) == m.special,
          "{}: src and tgt number <unk>, <blank>, <s> and </s> differently, expected the same numbers", vocab.where());
  const FileSet texts = FileSet::of_folder(fs::absolute(path).parent_path());
  std::vector<Vocabulary> sides;
  for (size_t side = 0; side < 2; ++side) {
    Splitting splitting =
        vocabs.empty() ? find_splitting(texts, side == 0 ? "source" : "target") : load_splitting(vocabs[side]);
    if (side == 0) warn_unless_split(splitting, path);
    ListedVocabulary v = listed_vocabulary(pieces[side], std::move(splitting), m.special);
    sides.push_back(Vocabulary::from_list(std::move(v), vocab.where()));
  }
  m.source_vocabulary = sides[0].size(), m.target_vocabulary = sides[1].size();
  return {sides[0], sides[1]};
}

/// Maps the names of the weights of a layer, or of some of them.
class OpenNmtMapping {
 public:
  OpenNmtMapping(WeightMapping& weights, const ModelConfig& config, bool rotates_pairs)
      : w_(weights), c_(config), rotates_pairs_(rotates_pairs) {}

  void all() {
    embeddings();
    for (int l = 0; l < c_.encoder_layers; ++l) {
      const std::string ours = fmt::format("encoder.{}.", l), theirs = fmt::format("encoder.transformer.{}.", l);
      self_attention(ours + "self_attention", theirs + "self_attn", theirs + "layer_norm");
      feed_forward(ours, theirs + "feed_forward.");
    }
    for (int l = 0; l < c_.decoder_layers; ++l) {
      const std::string ours = fmt::format("decoder.{}.", l), theirs = fmt::format("decoder.transformer_layers.{}.", l);
      self_attention(ours + "self_attention", theirs + "self_attn", theirs + "layer_norm_1");
      attention(ours + "cross_attention", theirs + "context_attn", theirs + "layer_norm_2");
      feed_forward(ours, theirs + "feed_forward.");
    }
    for (const char* side : {"encoder", "decoder"}) {
      norm(fmt::format("{}.norm", side), fmt::format("{}.layer_norm", side));
      w_.ignore(fmt::format("{}.embeddings.make_embedding.pe.pe", side));
    }
  }

 private:
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs, MatrixRows::outputs);
  }
  // Tied matrices are stored once under each name. In older versions, the output layer is inside an nn.Sequential.
  void embeddings() {
    const std::string source = "encoder.embeddings.make_embedding.emb_luts.0.weight",
                      target = "decoder.embeddings.make_embedding.emb_luts.0.weight",
                      generator = w_.has("generator.0.weight") ? "generator.0" : "generator";
    const EmbeddingsConfig& e = c_.embeddings;
    table(e.tied_all ? "embedding" : "source_embedding", source);
    const std::string output = generator + ".weight";
    e.ties_source() ? w_.ignore_copy(target, source) : table("target_embedding", target);
    e.ties_output() ? w_.ignore_copy(output, e.ties_source() ? source : target) : table("output", output);
    w_.vector("output.bias", generator + ".bias");
  }
  void linear(const std::string& ours, const std::string& theirs) {
    table(ours, theirs + ".weight");
    if (w_.has(theirs + ".bias"))
      w_.vector(ours + ".bias", theirs + ".bias");
    else
      w_.zeros(ours + ".bias", w_.get(theirs + ".weight").shape[0]);
  }
  void norm(const std::string& ours, const std::string& theirs) {
    w_.vector(ours + ".weight", theirs + ".weight");
    if (c_.norm_kind != NormKind::rms) w_.vector(ours + ".bias", theirs + ".bias");
  }
  void attention(const std::string& ours, const std::string& theirs, const std::string& norm_before) {
    for (const auto& [role, name] : {std::pair("query", "linear_query"),
                                     {"key", "linear_keys"},
                                     {"value", "linear_values"},
                                     {"output", "final_linear"}})
      linear(fmt::format("{}.{}", ours, role), fmt::format("{}.{}", theirs, name));
    norm(ours + "_norm", norm_before);
  }
  void self_attention(const std::string& ours, const std::string& theirs, const std::string& norm_before) {
    if (rotates_pairs_)
      for (const char* part :
           {".linear_query.weight", ".linear_query.bias", ".linear_keys.weight", ".linear_keys.bias"})
        if (w_.has(theirs + part)) separate_rotated_pairs(w_, theirs + part, c_);
    attention(ours, theirs, norm_before);
    if (c_.positions != Positions::relative) return;
    const std::string vectors = theirs + ".relative_positions_embeddings.weight";
    const int64_t count = 2 * int64_t{c_.relative_positions} + 1;
    w_.rows(ours + ".distance.weight", vectors, 0, count);
    w_.columns(ours + ".distance_value.weight", vectors, count);
  }
  void feed_forward(const std::string& ours, const std::string& theirs) {
    if (c_.gated_feed_forward) linear(ours + "feed_forward.gate", theirs + "w_1");
    linear(ours + "feed_forward.up", theirs + (c_.gated_feed_forward ? "w_3" : "w_1"));
    linear(ours + "feed_forward.down", theirs + "w_2");
    norm(ours + "feed_forward_norm", theirs + "layer_norm");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
  const bool rotates_pairs_;  // adjacent numbers, as versions before 3.5 do too
};

// Of the first layer: the others are as wide.
void check_sizes(const WeightMapping& weights, const ModelConfig& m) {
  using enum WeightMapping::Axis;
  const std::string encoder = "encoder.embeddings.make_embedding.emb_luts.0.weight",
                    decoder = "decoder.embeddings.make_embedding.emb_luts.0.weight";
  weights.require_extent(encoder, columns, m.dim, "opt: enc_hid_size");
  weights.require_extent(encoder, rows, m.source_vocabulary, "vocab: src");
  weights.require_extent(decoder, rows, m.target_vocabulary, "vocab: tgt");
  weights.require_extent("encoder.transformer.0.feed_forward.w_1.weight", rows, m.feed_forward, "opt: transformer_ff");
}

}  // namespace

std::optional<ConvertedModel> read_opennmt(const std::string& path, const std::vector<std::string>& vocabs) {
  if (!looks_like_torch(path)) return std::nullopt;
  const TorchFile file = *read_torch(path);
  const auto* checkpoint = file.root().as<PickleDict>();
  if (!checkpoint || !checkpoint->find("opt") || !checkpoint->find("vocab")) return std::nullopt;
  const PickleFields options(*checkpoint->find("opt"), path + ": opt"),
      vocab(*checkpoint->find("vocab"), path + ": vocab");
  check_kind(options);
  refuse_unknown_opennmt_parts(options);
  ModelConfig m;
  const Vocabularies vocabularies = vocabularies_of(vocab, path, vocabs, m);
  set_model(m, options);
  validate(m, path);
  const PickleRef model = checkpoint->find("model"), generator = checkpoint->find("generator");
  require(model && generator, "{} has no model or no generator, which hold the weights", path);
  std::vector<ForeignTensor> tensors = state_dict_tensors(file, *model, path);
  for (ForeignTensor& t : state_dict_tensors(file, *generator, path)) {
    t.name = "generator." + t.name;
    tensors.push_back(std::move(t));
  }
  WeightMapping weights(path, std::move(tensors));
  check_sizes(weights, m);
  const bool interleaved = !options.find("rotary_interleave") || options.flag("rotary_interleave");
  OpenNmtMapping(weights, m, m.positions == Positions::rotary && interleaved).all();
  return ConvertedModel{m, vocabularies, weights.take()};
}

}  // namespace dragoman
