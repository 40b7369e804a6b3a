#include "interop/ctranslate2.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "interop/ctranslate2_bin.h"
#include "interop/ctranslate2_vocabulary.h"
#include "interop/sinusoid_table.h"
#include "interop/weight_mapping.h"
#include "model/validate.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

/// The folder of the model and the folder of its tokenizer files, which in an Argos package is the parent folder.
struct Package {
  FileSet model, texts;
};

std::optional<Package> find_in_archive(const std::string& path) {
  if (!path.ends_with(".argosmodel") && !path.ends_with(".zip")) return std::nullopt;
  const ZipFile archive(path);
  for (const ZipFile::Entry& entry : archive.entries())
    if (const size_t at = entry.name.find("model/model.bin"); at != entry.name.npos) {
      const FileSet texts = FileSet::of_archive(archive, entry.name.substr(0, at));
      return Package{texts.inside("model"), texts};
    }
  fail("{} is not an Argos Translate package with a CTranslate2 model: it has no model/model.bin", path);
}

std::optional<Package> find_package(const std::string& path) {
  if (!fs::is_directory(path)) return fs::is_regular_file(path) ? find_in_archive(path) : std::nullopt;
  const FileSet folder = FileSet::of_folder(path);
  if (folder.has("model/model.bin") && folder.has("metadata.json")) return Package{folder.inside("model"), folder};
  if (folder.has("model.bin")) return Package{folder, folder};
  return std::nullopt;
}

/// Maps the variables of both sides of a model.
class CTranslate2Mapping {
 public:
  CTranslate2Mapping(CTranslate2Bin bin, ModelConfig& config)
      : bin_(std::move(bin)), c_(config), w_(bin_.path, split()) {}

  std::vector<TensorEntry> all();

 private:
  // An alias stands for a variable that is stored under another name.
  std::string resolved(const std::string& name) const {
    const auto alias = bin_.aliases.find(name);
    return alias == bin_.aliases.end() ? name : alias->second;
  }
  bool has(const std::string& name) const { return w_.has(resolved(name)); }
  double number(const std::string& side, const char* name, double otherwise) const;
  int whole_number(const std::string& side, const char* name, int otherwise) const;
  std::vector<ForeignTensor> split();

  void sizes();
  void check_flags() const;
  std::string source_table() const;
  void set_embeddings();
  double embedding_scale(const std::string& side) const;
  void set_positions();
  void embeddings();
  void side(const std::string& ours, int layers);
  void table(const std::string& ours, const std::string& theirs) {
    w_.matrix(ours, resolved(theirs), MatrixRows::outputs);
  }
  void linear(const std::string& ours, const std::string& theirs);
  void norm(const std::string& ours, const std::string& theirs);
  void attention(const std::string& ours, const std::string& theirs, std::initializer_list<const char*> roles);

  CTranslate2Bin bin_;
  ModelConfig& c_;
  WeightMapping w_;
};

// Query, key and value matrices are stored as one: "linear_0/weight" becomes "linear_0.0/weight" and so on.
std::vector<ForeignTensor> CTranslate2Mapping::split() {
  std::vector<ForeignTensor> tensors;
  for (ForeignTensor& t : bin_.tensors) {
    const bool self = t.name.find("/self_attention/linear_0/") != t.name.npos,
               memory = t.name.find("/attention/linear_1/") != t.name.npos;
    if (!self && !memory) {
      tensors.push_back(std::move(t));
      continue;
    }
    const int64_t parts = self ? 3 : 2, rows = t.shape[0] / parts;
    require(t.shape[0] == rows * parts, "{}: {} has {} rows, expected a multiple of {}", bin_.path, t.name, t.shape[0],
            parts);
    const size_t slash = t.name.rfind('/');
    for (int64_t i = 0; i < parts; ++i) {
      tensors.push_back(rows_of(t, i * rows, rows));
      tensors.back().name = fmt::format("{}.{}{}", t.name.substr(0, slash), i, t.name.substr(slash));
    }
  }
  return tensors;
}

// In older files, numbers that apply to both sides are at the top level.
double CTranslate2Mapping::number(const std::string& side, const char* name, double otherwise) const {
  for (const std::string& key : {side + "/" + name, std::string(name)})
    if (const auto found = bin_.numbers.find(key); found != bin_.numbers.end()) return found->second;
  return otherwise;
}

// CTranslate2 stores such numbers in 16 bits or fewer.
int CTranslate2Mapping::whole_number(const std::string& side, const char* name, int otherwise) const {
  constexpr int most = std::numeric_limits<int16_t>::max();
  const double found = number(side, name, otherwise);
  require(found >= 0 && found <= most && found == std::floor(found),
          "{}: {}/{} is {}, expected a whole number of at most {}", bin_.path, side, name, found, most);
  return int(found);
}

Activation activation_of(int id, const std::string& path) {
  switch (id) {
    case 0:
      return Activation::relu;
    case 1:
      return Activation::gelu_tanh;
    case 2:
      return Activation::swish;
    case 3:
      return Activation::gelu;
    case 4:
      return Activation::gelu_sigmoid;
    default:
      break;
  }
  fail("{}: activation is CTranslate2's {}, expected 0 to 4 (relu, gelu by tanh, swish, gelu, gelu by sigmoid)", path,
       id);
}

void CTranslate2Mapping::check_flags() const {
  for (const std::string side : {"encoder", "decoder"})
    for (const char* flag : {"alibi", "multi_query_attention", "scale_outputs", "final_logit_softcapping"})
      require(number(side, flag, 0) == 0, "{}: {}/{} is set, which dragoman does not support", bin_.path, side, flag);
  require(number("encoder", "pre_norm", 1) == number("decoder", "pre_norm", 1),
          "{}: encoder and decoder differ in pre_norm", bin_.path);
  require(number("encoder", "activation", 0) == number("decoder", "activation", 0),
          "{}: encoder and decoder differ in activation", bin_.path);
}

void CTranslate2Mapping::sizes() {
  const auto rows = [&](const std::string& name) { return int(w_.get(resolved(name)).shape[0]); };
  const auto layers = [&](const char* side) {
    int count = 0;
    while (w_.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", side, count))) ++count;
    return count;
  };
  c_.dim = rows("encoder/layer_0/self_attention/linear_1/weight");
  c_.encoder_layers = layers("encoder"), c_.decoder_layers = layers("decoder");
  for (const char* side : {"encoder", "decoder"})
    require(whole_number(side, "num_heads", 8) >= 1, "{}: {}/num_heads is 0, expected at least 1", bin_.path, side);
  c_.heads = whole_number("encoder", "num_heads", 8);
  if (const int heads = whole_number("decoder", "num_heads", 8); heads != c_.heads) c_.decoder_heads = heads;
  c_.feed_forward = rows("encoder/layer_0/ffn/linear_0/weight");
  if (const int inner = rows("decoder/layer_0/ffn/linear_0/weight"); inner != c_.feed_forward)
    c_.decoder_feed_forward = inner;
  c_.alignment = alignment_config(int(number("decoder", "alignment_layer", -1)),
                                  whole_number("decoder", "alignment_heads", 1), c_.decoder_layers);
  c_.activation = activation_of(whole_number("encoder", "activation", 0), bin_.path);
  c_.norm = number("encoder", "pre_norm", 1) != 0 ? NormPlacement::pre : NormPlacement::post;
  const bool has_final = has("encoder/layer_norm/gamma");
  if (has_final != (c_.norm == NormPlacement::pre)) c_.final_norm = has_final ? FinalNorm::always : FinalNorm::never;
  c_.embedding_norm = has("encoder/layernorm_embedding/gamma");
  if (!has("encoder/layer_0/ffn/layer_norm/beta")) c_.norm_kind = NormKind::rms;
}

// Older files have one source table, newer ones a list. CTranslate2 looks for the names in this order.
std::string CTranslate2Mapping::source_table() const {
  const std::string single = "encoder/embeddings/weight";
  return has(single) ? single : "encoder/embeddings_0/weight";
}

// Matrices are tied if their names resolve to the same variable.
void CTranslate2Mapping::set_embeddings() {
  const std::string source = resolved(source_table()), target = resolved("decoder/embeddings/weight"),
                    output = resolved("decoder/projection/weight");
  EmbeddingsConfig& e = c_.embeddings;
  e.tied_all = source == target && target == output;
  e.tied_source = !e.tied_all && source == target;
  e.tied_output = !e.tied_all && target == output;
  e.output_bias = has("decoder/projection/bias");
  e.scale = embedding_scale("encoder");
  require(e.scale == embedding_scale("decoder"), "{}: encoder and decoder scale embeddings differently", bin_.path);
}

// The scale is stored as a factor or as a flag; older files store the flag elsewhere. 0: the square root of D.
double CTranslate2Mapping::embedding_scale(const std::string& side) const {
  for (const char* name : {"/scale_embeddings", "/embeddings/multiply_by_sqrt_depth"}) {
    const auto found = bin_.numbers.find(side + name);
    if (found == bin_.numbers.end()) continue;
    const double factor = found->second;
    if (bin_.flags.contains(side + name)) return factor != 0 ? 0 : 1;
    return std::abs(factor - std::sqrt(c_.dim)) < 1e-3 * factor ? 0 : factor;
  }
  return 0;
}

// A stored table is either sinusoidal, which is recognised, or learned. Without a table, CTranslate2 computes
// tensor2tensor's sinusoids, from position 1.
void CTranslate2Mapping::set_positions() {
  const std::string name = resolved("encoder/position_encodings/encodings");
  if (!w_.has(name)) {
    require(!w_.has("encoder/layer_0/self_attention/relative_position_keys"),
            "{} has relative positions, which dragoman does not read from CTranslate2 models", bin_.path);
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
      w_.ignore(resolved(fmt::format("{}/position_encodings/encodings", side)));
    return;
  }
  c_.positions = Positions::learned;
  c_.max_positions = int(table.shape[0]);
  for (const char* side : {"encoder", "decoder"})
    w_.rows(fmt::format("{}.positions.weight", side), resolved(fmt::format("{}/position_encodings/encodings", side)), 0,
            c_.max_positions);
}

void CTranslate2Mapping::embeddings() {
  const EmbeddingsConfig& e = c_.embeddings;
  if (e.tied_all) return table("embedding.weight", source_table());
  table("source_embedding.weight", source_table());
  if (!e.ties_source()) table("target_embedding.weight", "decoder/embeddings/weight");
  if (!e.ties_output()) table("output.weight", "decoder/projection/weight");
}

void CTranslate2Mapping::linear(const std::string& ours, const std::string& theirs) {
  table(ours + ".weight", theirs + "/weight");
  const std::string bias = resolved(theirs + "/bias");
  if (w_.has(bias))
    w_.vector(ours + ".bias", bias);
  else
    w_.zeros(ours + ".bias", w_.get(resolved(theirs + "/weight")).shape[0]);
}

void CTranslate2Mapping::norm(const std::string& ours, const std::string& theirs) {
  w_.vector(ours + ".weight", resolved(theirs + "/gamma"));
  if (c_.norm_kind != NormKind::rms) w_.vector(ours + ".bias", resolved(theirs + "/beta"));
}

void CTranslate2Mapping::attention(const std::string& ours, const std::string& theirs,
                                   std::initializer_list<const char*> names) {
  const char* roles[] = {"query", "key", "value", "output"};
  int role = 0;
  for (const char* name : names) linear(fmt::format("{}.{}", ours, roles[role++]), theirs + "/" + name);
  norm(ours + "_norm", theirs + "/layer_norm");
}

void CTranslate2Mapping::side(const std::string& name, int layers) {
  for (int l = 0; l < layers; ++l) {
    const std::string ours = fmt::format("{}.{}.", name, l), theirs = fmt::format("{}/layer_{}/", name, l);
    attention(ours + "self_attention", theirs + "self_attention",
              {"linear_0.0", "linear_0.1", "linear_0.2", "linear_1"});
    if (name == "decoder")
      attention(ours + "cross_attention", theirs + "attention", {"linear_0", "linear_1.0", "linear_1.1", "linear_2"});
    linear(ours + "feed_forward.up", theirs + "ffn/linear_0");
    linear(ours + "feed_forward.down", theirs + "ffn/linear_1");
    norm(ours + "feed_forward_norm", theirs + "ffn/layer_norm");
  }
  if (c_.embedding_norm) norm(name + ".embedding_norm", name + "/layernorm_embedding");
  if (c_.has_final_norm()) norm(name + ".norm", name + "/layer_norm");
}

std::vector<TensorEntry> CTranslate2Mapping::all() {
  check_flags();
  sizes();
  set_embeddings();
  set_positions();
  embeddings();
  if (c_.embeddings.output_bias) w_.vector("output.bias", resolved("decoder/projection/bias"));
  side("encoder", c_.encoder_layers), side("decoder", c_.decoder_layers);
  return w_.take();
}

// Before version 6, variables of model.bin hold what config.json holds now.
JsonObject configuration_of(const CTranslate2Bin& bin, const FileSet& model) {
  const JsonObject file =
      JsonObject::of_text(model.has("config.json") ? model.text("config.json") : "{}", model.path() + "/config.json");
  if (bin.version >= 6) return file;
  const auto flag = [&](const char* name, bool otherwise) {
    const auto found = bin.numbers.find(name);
    return found == bin.numbers.end() ? otherwise : found->second != 0;
  };
  nlohmann::json config = file.root();
  for (const auto& [key, otherwise] : {std::pair("unk_token", "<unk>"), {"bos_token", "<s>"}, {"eos_token", "</s>"}})
    config[key] = bin.texts.contains(key) ? bin.texts.at(key) : otherwise;
  config["add_source_bos"] = flag("with_source_bos", false);
  config["add_source_eos"] = flag("with_source_eos", false);
  config["decoder_start_token"] = config[flag("with_target_bos", true) ? "bos_token" : "eos_token"];
  if (flag("user_decoder_start_tokens", false)) config["decoder_start_token"] = nullptr;
  return JsonObject::of_text(json_text(config), bin.path);
}

// OpenNMT models begin with <s> and have no </s> after the source. Models from transformers begin with </s>; their
// tokenizers add </s> to the source, so CTranslate2's configuration does not mention it.
void set_ends(ModelConfig& m, const JsonObject& config, const Vocabulary& target, bool zero) {
  const auto eos = config.get("eos_token", std::string("</s>")), bos = config.get("bos_token", std::string("<s>"));
  const std::string pad = m.special.pad < 0 ? "" : target.piece(m.special.pad);
  if (config.has("decoder_start_token") || zero) {
    const auto start = config.get("decoder_start_token", eos);
    require(zero || start == eos || start == bos || (!pad.empty() && start == pad),
            "{}: decoder_start_token is {}, expected {}, {} or {}", config.path(), start, bos, eos,
            pad.empty() ? "<pad>" : pad);
    m.decoder_start = zero           ? DecoderStart::zero
                      : start == bos ? DecoderStart::bos
                      : start == eos ? DecoderStart::eos
                                     : DecoderStart::pad;
  } else {
    throw Error(
        fmt::format("{}: decoder_start_token is null: the model expects the decoder's first token with each sentence",
                    config.path()),
        "dragoman does not read such models (mBART-25, some fairseq models)");
  }
  m.generation.source_bos = config.get("add_source_bos", false);
  m.generation.source_eos = config.get("add_source_eos", false) || m.decoder_start != DecoderStart::bos;
}

// An Argos Translate package with a multilingual model names the piece that its translations begin with.
void set_target_prefix(ModelConfig& m, const FileSet& package, const Vocabulary& target) {
  if (!package.has("metadata.json")) return;
  const JsonObject metadata = JsonObject::of_text(package.text("metadata.json"), package.path() + "/metadata.json");
  const auto prefix = metadata.get("target_prefix", std::string());
  if (prefix.empty()) return;
  const auto id = target.find(prefix);
  require(id.has_value(), "{}: target_prefix is {}, which the vocabulary does not have", metadata.path(), prefix);
  m.generation.target_language_id = *id;
  m.generation.source_language = SourceLanguage::none;
  m.generation.target_language = TargetLanguage::target;
}

}  // namespace

std::optional<ConvertedModel> read_ctranslate2(const std::string& path, const std::vector<std::string>& vocabs) {
  const std::optional<Package> package = find_package(path);
  if (!package) return std::nullopt;
  const FileBytes file = package->model.bytes("model.bin");
  if (!is_ctranslate2_bin(file)) return std::nullopt;
  CTranslate2Bin bin = read_ctranslate2_bin(file, package->model.path() + "/model.bin");
  if (bin.spec != "TransformerSpec")
    throw Error(fmt::format("{} is a model of kind {}, expected TransformerSpec", bin.path, bin.spec),
                "dragoman reads only CTranslate2's encoder-decoder Transformers for text translation");
  const JsonObject config = configuration_of(bin, package->model);
  ModelConfig m;
  const auto zero = bin.numbers.find("decoder/start_from_zero_embedding");
  m.generation.search_rule = SearchRule::ctranslate2;
  const Vocabularies vocabularies = ctranslate2_vocabularies(package->model, package->texts, vocabs, config, m);
  set_ends(m, config, vocabularies.target, zero != bin.numbers.end() && zero->second != 0);
  set_target_prefix(m, package->texts, vocabularies.target);
  std::vector<TensorEntry> weights = CTranslate2Mapping(std::move(bin), m).all();
  m.norm_epsilon = config.get("layer_norm_epsilon", m.norm_kind == NormKind::rms ? 1e-6 : 1e-5);
  validate(m, path);
  return ConvertedModel{m, vocabularies, std::move(weights)};
}

}  // namespace dragoman
