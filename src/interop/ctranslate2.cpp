#include "interop/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"
#include "interop/ctranslate2_bin.h"
#include "interop/ctranslate2_vocabulary.h"
#include "interop/ctranslate2_weights.h"
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

// OpenNMT models begin with <s> and have no </s> after the source. Models from transformers begin with </s> or <pad>,
// MADLAD-400 with <unk>; their tokenizers add </s> to the source, so CTranslate2's configuration does not mention it.
void set_ends(ModelConfig& m, const JsonObject& config, const Vocabulary& target, bool zero) {
  const auto eos = config.get("eos_token", std::string("</s>")), bos = config.get("bos_token", std::string("<s>"));
  const SpecialIds& ids = m.special;
  if (config.has("decoder_start_token") || zero) {
    const auto start = config.get("decoder_start_token", eos);
    const auto begins_with = [&](int id) { return id >= 0 && target.piece(id) == start; };
    require(zero || begins_with(ids.eos) || begins_with(ids.bos) || begins_with(ids.pad),
            "{}: decoder_start_token is {}, expected {}, {} or {}", config.path(), start, bos, eos,
            ids.pad < 0 ? "<pad>" : target.piece(ids.pad));
    m.decoder_start = zero                   ? DecoderStart::zero
                      : begins_with(ids.bos) ? DecoderStart::bos
                      : begins_with(ids.eos) ? DecoderStart::eos
                                             : DecoderStart::pad;
  } else {
    throw Error(
        fmt::format("{}: decoder_start_token is null: the model expects the decoder's first token with each sentence",
                    config.path()),
        "dragoman does not read such models (mBART-25, some fairseq models)");
  }
  m.generation.source_bos = config.get("add_source_bos", false);
  const bool opennmt = m.decoder_start == DecoderStart::bos && ids.bos != ids.unk;
  m.generation.source_eos = config.get("add_source_eos", false) || !opennmt;
}

bool has_relative_biases(const CTranslate2Bin& bin) {
  return std::ranges::any_of(bin.tensors,
                             [](const ForeignTensor& t) { return t.name.ends_with("/relative_attention_bias"); });
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
  if (has_relative_biases(bin)) m.positions = Positions::relative_bias;
  const Vocabularies vocabularies = ctranslate2_vocabularies(package->model, package->texts, vocabs, config, m);
  set_ends(m, config, vocabularies.target, zero != bin.numbers.end() && zero->second != 0);
  set_target_prefix(m, package->texts, vocabularies.target);
  std::vector<TensorEntry> weights = ctranslate2_weights(std::move(bin), m, ctranslate2_lists(package->model));
  m.norm_epsilon = config.get("layer_norm_epsilon", m.norm_kind == NormKind::rms ? 1e-6 : 1e-5);
  validate(m, path);
  return ConvertedModel{m, vocabularies, std::move(weights)};
}

}  // namespace dragoman
