#include "interop/write_huggingface.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/export.h"

namespace dragoman {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Bytes = std::vector<std::byte>;

constexpr std::string_view expressible[] = {"dim",
                                            "encoder_layers",
                                            "decoder_layers",
                                            "heads",
                                            "decoder_heads",
                                            "feed_forward",
                                            "decoder_feed_forward",
                                            "activation",
                                            "embedding_scale",
                                            "output_bias",
                                            "tied_embeddings_all",
                                            "tied_embeddings",
                                            "tied_embeddings_src",
                                            "source_vocabulary",
                                            "target_vocabulary",
                                            "unk_id",
                                            "bos_id",
                                            "eos_id",
                                            "pad_id",
                                            "decoder_start",
                                            "target_language",
                                            "suppressed_ids",
                                            "search_rule",
                                            "tied_decoder_layers"};

const char* name_of_theirs(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_new";
    case Activation::gelu_sigmoid:
      return "quick_gelu";
    case Activation::swish:
      return "swish";
    case Activation::tanh:
    case Activation::none:
      break;
  }
  fail("feed-forward layers have the activation {}, of which MarianMT has no equal", name_of(activation));
}

/// Makes the tensors of a folder.
class Tensors {
 public:
  /// `adds_pad`: vocabularies get one more piece.
  Tensors(const ModelFile& model, bool adds_pad) : model_(model), c_(model.config()), adds_pad_(adds_pad) {}

  std::vector<TensorEntry> all();

 private:
  void copy(const std::string& theirs, const std::string& ours) {
    TensorEntry tensor = floating(model_, ours);
    tensor.name = theirs;
    tensors_.push_back(std::move(tensor));
  }
  void linear(const std::string& theirs, const std::string& ours) {
    copy(theirs + ".weight", ours + ".weight");
    copy(theirs + ".bias", ours + ".bias");
  }
  void table(const std::string& theirs, const std::string& ours);
  void bias();
  void attention(const std::string& theirs, const std::string& ours);
  void layer(const std::string& theirs, const std::string& ours, bool cross);

  const ModelFile& model_;
  const ModelConfig& c_;
  const bool adds_pad_;
  std::vector<TensorEntry> tensors_;
};

Bytes bytes_of(const TensorEntry& t) { return t.make ? t.make() : Bytes(t.bytes.begin(), t.bytes.end()); }

// The row of <pad> is zero, as the class has it.
void Tensors::table(const std::string& theirs, const std::string& ours) {
  TensorEntry tensor = floating(model_, ours);
  tensor.name = theirs;
  if (adds_pad_) {
    const TensorEntry without = tensor;
    const auto row = size_t(tensor.shape[1] * size_of(tensor.dtype));
    tensor.shape[0] += 1;
    tensor.bytes = {};
    tensor.make = [without, row] {
      Bytes bytes = bytes_of(without);
      bytes.resize(bytes.size() + row);
      return bytes;
    };
  }
  tensors_.push_back(std::move(tensor));
}

// The class always has a bias. A <pad> that the model lacks must have no probability.
void Tensors::bias() {
  constexpr float never = -1e9f;
  std::vector<float> values(size_t(c_.target_vocabulary));
  if (c_.embeddings.output_bias) {
    const TensorEntry stored = floating(model_, "output.bias");
    require(stored.dtype == DType::f32, "{}: output.bias is of {}, expected F32", model_.tensors().path(),
            stored.dtype);
    values = values_of<float>(stored);
  }
  if (adds_pad_) values.push_back(never);
  tensors_.push_back(
      {.name = "final_logits_bias", .dtype = DType::f32, .shape = {1, int64_t(values.size())}, .make = [values] {
         Bytes bytes(values.size() * sizeof(float));
         std::memcpy(bytes.data(), values.data(), bytes.size());
         return bytes;
       }});
}

void Tensors::attention(const std::string& theirs, const std::string& ours) {
  for (const auto& [letter, role] : {std::pair("q", "query"), {"k", "key"}, {"v", "value"}, {"out", "output"}})
    linear(fmt::format("{}.{}_proj", theirs, letter), fmt::format("{}.{}", ours, role));
  linear(theirs + "_layer_norm", ours + "_norm");
}

void Tensors::layer(const std::string& theirs, const std::string& ours, bool cross) {
  attention(theirs + "self_attn", ours + "self_attention");
  if (cross) attention(theirs + "encoder_attn", ours + "cross_attention");
  linear(theirs + "fc1", ours + "feed_forward.up");
  linear(theirs + "fc2", ours + "feed_forward.down");
  linear(theirs + "final_layer_norm", ours + "feed_forward_norm");
}

std::vector<TensorEntry> Tensors::all() {
  const EmbeddingsConfig& e = c_.embeddings;
  if (e.ties_source())
    table("model.shared.weight", e.tied_all ? "embedding.weight" : "source_embedding.weight");
  else
    table("model.encoder.embed_tokens.weight", "source_embedding.weight"),
        table("model.decoder.embed_tokens.weight", "target_embedding.weight");
  if (!e.ties_output()) table("lm_head.weight", "output.weight");
  bias();
  for (int l = 0; l < c_.encoder_layers; ++l)
    layer(fmt::format("model.encoder.layers.{}.", l), fmt::format("encoder.{}.", l), false);
  for (int l = 0; l < c_.decoder_layers; ++l)
    layer(fmt::format("model.decoder.layers.{}.", l),
          fmt::format("decoder.{}.", c_.tied_decoder_layers.empty() ? l : c_.tied_decoder_layers[size_t(l)]), true);
  return std::move(tensors_);
}

// Where the decoder begins with zeros, it begins with <pad>, whose embedding is zeros.
ordered_json configuration_of(const ModelConfig& c, int pad) {
  const int start = c.decoder_start == DecoderStart::zero ? pad : c.first_token();
  const ModelConfig decoder = c.decoder_side();
  const EmbeddingsConfig& e = c.embeddings;
  const int pieces = c.source_vocabulary + (pad == c.source_vocabulary ? 1 : 0);
  return {{"architectures", {"MarianMTModel"}},
          {"model_type", "marian"},
          {"vocab_size", pieces},
          {"decoder_vocab_size", pieces},
          {"d_model", c.dim},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"num_hidden_layers", c.encoder_layers},
          {"encoder_attention_heads", c.heads},
          {"decoder_attention_heads", decoder.heads},
          {"encoder_ffn_dim", c.feed_forward},
          {"decoder_ffn_dim", decoder.feed_forward},
          {"activation_function", name_of_theirs(c.activation)},
          {"scale_embedding", e.scale == 0},
          {"share_encoder_decoder_embeddings", e.ties_source()},
          {"tie_word_embeddings", e.ties_output()},
          {"max_position_embeddings", 1024},
          {"static_position_embeddings", true},
          {"normalize_before", false},
          {"normalize_embedding", false},
          {"is_encoder_decoder", true},
          {"pad_token_id", pad},
          {"bos_token_id", c.special.bos < 0 ? c.special.eos : c.special.bos},
          {"eos_token_id", c.special.eos},
          {"forced_eos_token_id", c.special.eos},
          {"decoder_start_token_id", start},
          {"dropout", c.dropout.sublayer},
          {"torch_dtype", "float32"}};
}

ordered_json generation_of(const ModelConfig& c, int pad) {
  std::vector<std::vector<int>> bad = {{pad}, {c.special.unk}};
  if (c.special.bos >= 0) bad.push_back({c.special.bos});
  for (const int id : c.generation.suppressed)
    if (id != pad) bad.push_back({id});
  return {{"bad_words_ids", bad},
          {"decoder_start_token_id", c.decoder_start == DecoderStart::zero ? pad : c.first_token()},
          {"eos_token_id", c.special.eos},
          {"forced_eos_token_id", c.special.eos},
          {"pad_token_id", pad},
          {"max_length", 512},
          {"num_beams", 5}};
}

std::string list_of(const Vocabulary& vocabulary, bool adds_pad) {
  std::vector<std::string> pieces = pieces_of(vocabulary);
  if (adds_pad) pieces.emplace_back("<pad>");
  ordered_json ids = ordered_json::object();
  for (size_t id = 0; id < pieces.size(); ++id) ids[pieces[id]] = id;
  return ids.dump();
}

}  // namespace

void write_huggingface(const ModelFile& model, const std::string& path) {
  require_fields(model, expressible, "MarianMT of transformers");
  const ModelConfig& c = model.config();
  const std::string& name = model.tensors().path();
  require(c.source_vocabulary == c.target_vocabulary,
          "{}: its vocabularies have {} and {} pieces, those of MarianMT as many", name, c.source_vocabulary,
          c.target_vocabulary);
  require(c.embeddings.scale == 0 || c.embeddings.scale == 1,
          "{}: its 'embedding_scale' is {}, expected 0 or 1 for MarianMT", name, c.embeddings.scale);
  const auto& [source, target] = model.vocabularies();
  const bool adds_pad = c.special.pad < 0;
  const int pad = adds_pad ? c.source_vocabulary : c.special.pad;
  OutputFolder folder(path);
  folder.write("source.spm", sentencepiece_of(source, "source"));
  folder.write("target.spm", sentencepiece_of(target, "target"));
  folder.write("config.json", configuration_of(c, pad).dump(2) + "\n");
  folder.write("generation_config.json", generation_of(c, pad).dump(2) + "\n");
  folder.write("vocab.json", list_of(source, adds_pad));
  const bool separate = pieces_of(source) != pieces_of(target);
  if (separate) folder.write("target_vocab.json", list_of(target, adds_pad));
  folder.write("tokenizer_config.json", ordered_json{{"tokenizer_class", "MarianTokenizer"},
                                                     {"separate_vocabs", separate},
                                                     {"unk_token", target.piece(c.special.unk)},
                                                     {"eos_token", target.piece(c.special.eos)},
                                                     {"pad_token", adds_pad ? "<pad>" : target.piece(pad)}}
                                                .dump(2) +
                                            "\n");
  write_safetensors(folder.file("model.safetensors"), Tensors(model, adds_pad).all(), {{"format", "pt"}});
  folder.commit();
}

}  // namespace dragoman
