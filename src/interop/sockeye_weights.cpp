#include "interop/sockeye_weights.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"

namespace dragoman {
namespace {

// Sockeye stores the rows of keys and values by head: the keys of a head, then its values. `values`: the latter.
ForeignTensor of_heads(const ForeignTensor& both, const std::string& name, bool values, int heads) {
  ForeignTensor part = both;
  part.name = name;
  part.shape[0] /= 2;
  const int64_t bytes = part.shape[0] / heads * part.shape[1] * size_of(both.dtype);
  part.read = [read = both.read, bytes, values, heads] {
    const std::vector<std::byte> all = read();
    std::vector<std::byte> rows;
    for (int64_t h = 0; h < heads; ++h) {
      const auto begin = all.begin() + (2 * h + int64_t(values)) * bytes;
      rows.insert(rows.end(), begin, begin + bytes);
    }
    return rows;
  };
  return part;
}

void require_rows(const ForeignTensor& t, int64_t rows, const std::string& path) {
  require(t.shape.size() == 2 && t.shape[0] == rows, "{}: {} is ({}), expected {} rows", path, t.name,
          fmt::join(t.shape, ","), rows);
}

/// Maps the names of the weights of a layer, or of some of them.
class SockeyeMapping {
 public:
  SockeyeMapping(WeightMapping& weights, const ModelConfig& config) : w_(weights), c_(config) {}

  void all() {
    embeddings();
    side("encoder", c_.encoder_layers);
    side("decoder", c_.decoder_layers);
  }

 private:
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours + ".weight", theirs + ".weight", MatrixRows::outputs);
  }
  // Tied matrices are stored under each of their names.
  void embeddings() {
    const EmbeddingsConfig& e = c_.embeddings;
    const std::string source = "embedding_source.embedding", target = "embedding_target.embedding",
                      output = "output_layer";
    table(e.tied_all ? "embedding" : "source_embedding", source);
    const auto tied = [&](const std::string& copy, const std::string& of) {
      w_.ignore_copy(copy + ".weight", of + ".weight");
    };
    e.ties_source() ? tied(target, source) : table("target_embedding", target);
    e.ties_output() ? tied(output, e.ties_source() ? source : target) : table("output", output);
    w_.vector("output.bias", output + ".bias");
  }
  void side(const std::string& name, int layers) {
    const std::string positions = name + ".pos_embedding.weight";
    if (c_.positions == Positions::learned)
      w_.matrix(name + ".positions.weight", positions, MatrixRows::outputs);
    else
      w_.ignore(positions);
    if (c_.has_final_norm()) w_.norm(name + ".norm", name + ".final_process.layer_norm");
    for (int l = 0; l < layers; ++l) {
      const std::string ours = fmt::format("{}.{}.", name, l), theirs = fmt::format("{}.layers.{}.", name, l);
      if (name == "encoder") {
        attention(ours + "self_attention", theirs, "self_attention", "self_attention");
      } else {
        autoregression(ours, theirs);
        attention(ours + "cross_attention", theirs, "enc_attention", "enc_attention");
      }
      if (c_.gated_feed_forward) w_.linear(ours + "feed_forward.gate", theirs + "ff.ff1");
      w_.linear(ours + "feed_forward.up", theirs + (c_.gated_feed_forward ? "ff.linear" : "ff.ff1"));
      w_.linear(ours + "feed_forward.down", theirs + "ff.ff2");
      sublayer_norm(ours + "feed_forward", theirs, "ff");
    }
  }
  void without_bias(const std::string& ours, const std::string& theirs) {
    table(ours, theirs);
    w_.zeros(ours + ".bias", c_.dim);
  }
  void sublayer_norm(const std::string& ours, const std::string& theirs, const std::string& sublayer) {
    const char* place = c_.norm == NormPlacement::pre ? "pre" : "post";
    w_.norm(ours + "_norm", fmt::format("{}{}_{}.layer_norm", theirs, place, sublayer));
  }
  void attention(const std::string& ours, const std::string& layer, const std::string& theirs,
                 const std::string& sublayer) {
    for (const auto& [role, name] :
         {std::pair("query", "ff_q"), {"key", "ff_k"}, {"value", "ff_v"}, {"output", "ff_out"}})
      without_bias(fmt::format("{}.{}", ours, role), fmt::format("{}{}.{}", layer, theirs, name));
    sublayer_norm(ours, layer, sublayer);
  }
  void autoregression(const std::string& ours, const std::string& layer) {
    const std::string theirs = layer + "autoregr_layer";
    if (c_.autoregression == Autoregression::self_attention)
      return attention(ours + "self_attention", layer, "autoregr_layer", "autoregr_layer");
    without_bias(ours + "rnn.state", theirs + ".linear");
    w_.linear(ours + "rnn.forget_gate", theirs + ".forget_gate");
    sublayer_norm(ours + "rnn", layer, "autoregr_layer");
  }

  WeightMapping& w_;
  const ModelConfig& c_;
};

}  // namespace

std::vector<ForeignTensor> sockeye_tensors(const TorchFile& file, const std::string& path, const ModelConfig& config) {
  const auto* dict = file.root().as<PickleDict>();
  require(dict != nullptr, "{} holds {}, expected a dict of tensors", path, description_of(file.root()));
  for (const auto& [key, value] : dict->items)
    if (const auto* name = key->as<std::string>(); name && name->find("_packed_params") != name->npos)
      throw Error(fmt::format("{}: {} is quantised by PyTorch, which dragoman does not support", path, *name),
                  "give the folder with the parameters as they were before sockeye-quantize, in params.best.float32");
  std::vector<ForeignTensor> result;
  for (ForeignTensor& t : state_dict_tensors(file, file.root(), path)) {
    // Modules that were traced are stored twice; the length ratio is a task of training alone.
    if (t.name.find("traced") != t.name.npos || t.name.starts_with("length_ratio.")) continue;
    const size_t at = t.name.rfind('.', t.name.rfind('.') - 1);  // "….ff_in.weight"
    const std::string attention = at == t.name.npos ? "" : t.name.substr(0, at + 1),
                      last = t.name.substr(attention.size());
    if (last == "ff_in.weight") {
      require_rows(t, int64_t{3} * config.dim, path);
      result.push_back(rows_of(t, 0, config.dim));
      result.back().name = attention + "ff_q.weight";
      t = rows_of(t, config.dim, int64_t{2} * config.dim);
    } else if (last == "ff_kv.weight") {
      require_rows(t, int64_t{2} * config.dim, path);
    } else {
      result.push_back(std::move(t));
      continue;
    }
    for (const bool values : {false, true})
      result.push_back(of_heads(t, attention + (values ? "ff_v.weight" : "ff_k.weight"), values,
                                attention.starts_with("decoder.") ? config.decoder_side().heads : config.heads));
  }
  return result;
}

void map_sockeye_weights(WeightMapping& weights, const ModelConfig& config) { SockeyeMapping(weights, config).all(); }

}  // namespace dragoman
