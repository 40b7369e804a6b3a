#include "interop/write_marian.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/error.h"
#include "interop/export.h"
#include "interop/marian_bin.h"
#include "interop/marian_files.h"
#include "interop/marian_names.h"
#include "interop/raw_bytes.h"

namespace dragoman {
namespace {

constexpr std::string_view expressible_in_marian[] = {"norm",
                                                      "final_norm",
                                                      "embedding_norm",
                                                      "autoregression",
                                                      "average_feed_forward",
                                                      "average_activation",
                                                      "average_gates",
                                                      "ssru_norm",
                                                      "attention_projects_result",
                                                      "suppressed_ids"};

ModelConfig fixed_in_marian() {
  ModelConfig fixed;
  fixed.decoder_start = DecoderStart::zero;
  fixed.position_spacing = PositionSpacing::tensor2tensor;
  fixed.norm_epsilon = 1e-6;
  return fixed;
}

struct Item {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::function<std::vector<std::byte>()> make;
};

/// The weights of a model as items of Marian's file: the inverse of WeightMapping.
class MarianItems {
 public:
  explicit MarianItems(const ModelFile& model) : model_(model) {}

  bool has(const std::string&) const { return false; }  // the tensor names of older versions are not written
  void matrix(const std::string& ours, const std::string& theirs, MatrixRows rows) {
    const TensorEntry weight = floating(model_, ours);
    const int64_t R = weight.shape[0], C = weight.shape[1];
    if (rows == MatrixRows::outputs)
      items_.push_back(
          {theirs, MarianType::float32, {int32_t(R), int32_t(C)}, [weight] { return raw_bytes(floats_of(weight)); }});
    else
      items_.push_back({theirs, MarianType::float32, {int32_t(C), int32_t(R)}, [weight, R, C] {
                          return raw_bytes(transposed(floats_of(weight), R, C));
                        }});
  }
  void vector(const std::string& ours, const std::string& theirs) {
    const TensorEntry weight = floating(model_, ours);
    items_.push_back({theirs, MarianType::float32, {1, int32_t(weight.shape[0])}, [weight] {
                        return raw_bytes(floats_of(weight));
                      }});
  }
  void zeros(const std::string& ours, int64_t) {
    const std::vector<float> values = floats_of(floating(model_, ours));
    require(std::ranges::all_of(values, [](float v) { return v == 0; }),
            "{}: its {} is not zero, and Marian's SSRU has none", model_.tensors().path(), ours);
  }
  void add(Item item) { items_.push_back(std::move(item)); }
  const std::vector<Item>& items() const { return items_; }

 private:
  const ModelFile& model_;
  std::vector<Item> items_;
};

std::string name_of_theirs(Activation activation, const std::string& path) {
  if (activation == Activation::relu || activation == Activation::swish || activation == Activation::gelu)
    return std::string(name_of(activation));
  fail("{}: its activation is {}, which Marian does not support (it supports relu, swish and gelu)", path,
       name_of(activation));
}

// The first version of Marian with an exact gelu.
std::string options_of(const ModelConfig& c, const std::string& path) {
  const bool pre = c.norm == NormPlacement::pre, rnn = c.autoregression == Autoregression::rnn;
  YAML::Node o;
  o["version"] = "v1.12.42";
  o["type"] = "transformer";
  o["dim-emb"] = c.dim;
  o["dim-vocabs"] = std::vector<int>{c.source_vocabulary, c.target_vocabulary};
  o["enc-depth"] = c.encoder_layers, o["dec-depth"] = c.decoder_layers;
  o["transformer-heads"] = c.heads;
  o["transformer-dim-ffn"] = c.feed_forward, o["transformer-decoder-dim-ffn"] = c.decoder_feed_forward;
  o["transformer-ffn-depth"] = 2, o["transformer-decoder-ffn-depth"] = 0;
  o["transformer-ffn-activation"] = name_of_theirs(c.activation, path);
  o["transformer-preprocess"] = pre ? "n" : "", o["transformer-postprocess"] = pre ? "da" : "dan";
  o["transformer-postprocess-emb"] = c.embedding_norm ? "nd" : "d";
  o["transformer-postprocess-top"] = c.has_final_norm() ? "n" : "";
  o["transformer-decoder-autoreg"] = std::string(name_of(c.autoregression));
  o["dec-cell"] = rnn ? "ssru" : "gru", o["dec-cell-base-depth"] = 2, o["dec-cell-high-depth"] = 1;
  o["enc-cell"] = "gru", o["enc-cell-depth"] = 1, o["enc-type"] = "bidirectional";
  o["transformer-dim-aan"] = c.average.feed_forward, o["transformer-aan-depth"] = 2;
  o["transformer-aan-activation"] = name_of_theirs(c.average.activation, path);
  o["transformer-aan-nogate"] = !c.average.gates;
  o["transformer-no-projection"] = !c.attention.projects_result;
  o["transformer-tied-layers"] = c.tied_decoder_layers;
  o["tied-embeddings"] = c.embeddings.tied_output, o["tied-embeddings-src"] = c.embeddings.tied_source;
  o["tied-embeddings-all"] = c.embeddings.tied_all;
  o["output-omit-bias"] = !c.embeddings.output_bias;
  for (const char* off : {"transformer-rnn-projection", "transformer-pool", "transformer-no-bias",
                          "transformer-no-affine", "transformer-train-position-embeddings",
                          "transformer-disable-position-embeddings", "right-left", "skip", "ulr"})
    o[off] = false;
  o["layer-normalization"] = c.rnn.norm;
  o["lemma-dim-emb"] = 0, o["dim-rnn"] = 1024;
  o["transformer-guided-alignment-layer"] = c.alignment.layer == 0 ? "last" : std::to_string(c.alignment.layer);
  return YAML::Dump(o) + "\n";
}

template <class T>
void put_item(FileWriter& out, T number) {
  out.write(&number, sizeof(number));
}

// Data begins at a multiple of 256 bytes and is padded to a multiple of 256.
uint64_t padded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

uint64_t bytes_of(const Item& item) {
  uint64_t count = item.type == MarianType::float32 ? sizeof(float) : 1;
  for (const int32_t size : item.shape) count *= uint64_t(size);
  return count;
}

void write_items(FileWriter& out, const std::vector<Item>& items) {
  constexpr uint64_t version = 1;
  uint64_t before = 24;  // version, number of items, padding
  put_item(out, version), put_item(out, uint64_t(items.size()));
  for (const Item& item : items) {
    const uint64_t header[] = {item.name.size() + 1, item.type, item.shape.size(), padded(bytes_of(item))};
    out.write(header, sizeof(header));
    before += sizeof(header) + header[0] + 4 * header[2];
  }
  for (const Item& item : items) out.write(item.name.c_str(), item.name.size() + 1);
  for (const Item& item : items) out.write(item.shape.data(), 4 * item.shape.size());
  const uint64_t padding = padded(before) - before;
  put_item(out, padding);
  out.write(std::string(padding, '\0'));
  for (const Item& item : items) {
    std::vector<std::byte> bytes = item.make();
    bytes.resize(padded(bytes.size()));
    out.write(bytes.data(), bytes.size());
  }
}

void write_vocabularies(const OutputFolder& folder, const Vocabularies& v, const std::string& path) {
  for (const auto& [side, vocabulary] : {std::pair("source", &v.source), std::pair("target", &v.target)}) {
    require(vocabulary->bytes().empty() || vocabulary->bytes() == sentencepiece_of(*vocabulary, side),
            "{}: its {} vocabulary is a list of pieces, but Marian needs a SentencePiece model", path, side);
    folder.write(std::string(side) + ".spm", vocabulary->bytes());
  }
}

void require_suppressed(const ModelFile& model) {
  const std::vector<int> by_marian = control_bytes(model.vocabularies().target);
  for (const int id : model.config().generation.suppressed)
    require(std::ranges::count(by_marian, id) > 0 || model.config().special.contains(id),
            "{}: its 'suppressed_ids' has {}, which Marian would generate (it leaves out <0x00> to <0x1F>)",
            model.tensors().path(), id);
}

constexpr const char* decoder_yml = R"(relative-paths: true
models: [model.bin]
vocabs: [source.spm, target.spm]
beam-size: 6
normalize: 1
mini-batch: 32
maxi-batch: 100
maxi-batch-sort: src
)";

}  // namespace

void write_marian(const ModelFile& model, const std::string& path) {
  const ModelConfig& c = model.config();
  const std::string& name = model.tensors().path();
  require_fields(model, expressible_in_marian, "Marian", fixed_in_marian(),
                 "dragoman train --task transformer-base-marian trains models for Marian; ");
  require_suppressed(model);
  MarianItems items(model);
  MarianNames(items, c).all();
  const std::string options = options_of(c, name);
  items.add({marian_options_tensor, MarianType::int8, {int32_t(padded(options.size()))}, [options] {
               return raw_bytes(std::vector<char>(options.begin(), options.end()));
             }});
  write_folder(path, [&](const OutputFolder& folder) {
    write_vocabularies(folder, model.vocabularies(), name);
    write_atomically(folder.file("model.bin"), [&](FileWriter& out) { write_items(out, items.items()); });
    folder.write("decoder.yml", decoder_yml);
  });
}

}  // namespace dragoman
