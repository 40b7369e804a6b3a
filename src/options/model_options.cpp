#include "options/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "io/config_json.h"
#include "io/safetensors.h"
#include "model/config_fields.h"
#include "options/parse.h"
#include "train/checkpoint.h"
#include "train/pretrained.h"
#include "train/run_files.h"
#include "vocab/model_facts.h"
#include "vocab/sentence_ends.h"
#include "vocab/training.h"

namespace dragoman {
namespace {

// Options that set other options or are other names for them, and one of which the configuration has only the result.
constexpr std::string_view not_of_config[] = {"task", "sentence-ends", "transformer-train-position-embeddings"};

std::vector<Flag<TrainOptions>> flags_of_model() {
  auto flags = joined(model_flags(), transformer_flags(), position_flags(), attention_flags(), autoregression_flags(),
                      experts_flags(), rnn_flags());
  std::erase_if(flags, [](const auto& flag) { return std::ranges::count(not_of_config, flag.name) > 0; });
  return flags;
}

// Fields that matter only in training: a fine-tuned model may differ in them.
bool is_of_training(std::string_view option) {
  if (option == "transformer-depth-scaling") return true;
  const auto rows = model_config_fields();
  const auto row = std::ranges::find(rows, option, &ConfigField::option);
  return row != rows.end() && row->training_only;
}

// The options from which check_train() would make this configuration.
TrainOptions with_config(const ModelConfig& config) {
  TrainOptions o;
  static_cast<ModelConfig&>(o) = config;
  if (config.norm == NormPlacement::pre) o.preprocess = "n", o.postprocess = "da";
  o.depth_scaling = config.initialisation == Initialisation::depth_scaled ? DepthScaling::always : DepthScaling::never;
  o.no_average_gates = !config.average.gates;
  if (config.type == ModelType::s2s)
    o.dec_cell = config.rnn.decoder.cell == Cell::lstm ? DecoderCell::lstm : DecoderCell::gru;
  return o;
}

// Reads the configuration of a model file or of another program's model.
ModelConfig config_of(const std::string& path, const std::vector<std::string>& vocabs) {
  if (const auto foreign = read_foreign_model(path, pretrained_options(path, vocabs))) return foreign->config;
  const SafetensorsFile file(path);
  const auto config = file.metadata().find("config");
  require(config != file.metadata().end(), "--pretrained-model {} is not a model: it has no configuration", path);
  return config_from_json(config->second, path);
}

// The vocabularies that train could learn: SentencePiece's, which have a type, and lists of tokens.
bool is_learnable(const Vocabulary& vocabulary, const ModelFacts& facts) {
  const bool known = from_name<VocabularyType>(facts.type) || facts.type == "tokens";
  return known && vocabulary.size() >= least_pieces && vocabulary.size() <= most_pieces;
}

// Sets the options that learn vocabularies like these, as far as their bytes tell, and gives the names of these options
// back. Those for which the two differ are left out, as an option is for both.
Strings set_vocabularies(TrainOptions& o, const Vocabularies& vocabularies) {
  const auto& [source, target] = vocabularies;
  const ModelFacts ours = facts_of(source.bytes()), theirs = facts_of(target.bytes());
  if (!is_learnable(source, ours) || !is_learnable(target, theirs)) return {};
  o.dim_vocabs = {source.size()};
  if (!source.is_same_as(target)) o.dim_vocabs.push_back(target.size());
  Strings names = {"dim-vocabs"};
  const auto type = from_name<VocabularyType>(ours.type);
  if (!type || !from_name<VocabularyType>(theirs.type)) return names;  // a list of tokens only has a size
  const auto set = [&](const char* name, bool known, auto& member, auto value) {
    if (known) member = value, names.emplace_back(name);
  };
  set("vocab-type", ours.type == theirs.type, o.vocabulary_type, *type);
  set("vocab-normalization",
      ours.normalization == theirs.normalization && std::ranges::count(normalization_rules, ours.normalization) > 0,
      o.normalization, ours.normalization);
  set("protected-symbols", ours.protected_symbols == theirs.protected_symbols, o.protected_symbols,
      ours.protected_symbols);
  set("sentencepiece-options", !source.has_byte_fallback() && !target.has_byte_fallback(), o.sentencepiece_options,
      "--byte_fallback=false");
  return names;
}

bool is_implied(const Option& option, const ModelConfig& config) {
  return option.name.starts_with("tied-embeddings") && config.embeddings.tied_all && option.show() == Strings{"true"};
}

[[noreturn]] void refuse(const TrainOptions& given, const Option& option, const std::string& path,
                         const Strings& stored) {
  const bool preset = !option.given;
  throw Error(fmt::format("{}--{} {} contradicts {}, whose model has {}",
                          preset ? fmt::format("--task {}: ", name_of(given.task)) : "", option.name,
                          fmt::join(option.show(), " "), path, fmt::join(stored, " ")),
              preset ? "leave out --task: the architecture is taken from --pretrained-model"
                     : "leave it out: the architecture is taken from --pretrained-model");
}

}  // namespace

std::string options_of(const ModelConfig& config, const Vocabularies& vocabularies) {
  TrainOptions options = with_config(config);
  const Strings of_vocabularies = set_vocabularies(options, vocabularies);
  std::vector<Flag<TrainOptions>> flags;
  for (auto& flag : vocabulary_flags())
    if (std::ranges::count(of_vocabularies, flag.name) > 0) flags.push_back(std::move(flag));
  flags = joined(std::move(flags), flags_of_model());
  for (auto& flag : dropout_flags())
    if (flag.name != "label-smoothing") flags.push_back(std::move(flag));
  if (config.rnn.encoder.pooling == EncoderPooling::hierarchical) {
    const auto rnn = rnn_flags();
    flags.push_back(*std::ranges::find(rnn, "sentence-ends", &Flag<TrainOptions>::name));
    options.sentence_marks = sentence_marks(vocabularies.source, config.rnn.encoder.sentence_ends);
  }
  return to_yaml(bind_flags(flags, options), true);
}

void inherit_model(TrainOptions& given, std::vector<Option>& options) {
  if (given.pretrained_model.empty()) return;
  const std::string state = state_path(given.model);
  const bool resumes = !given.no_reload && !given.model.empty() && std::filesystem::exists(state);
  const std::string& path = resumes ? state : given.pretrained_model;
  if (!std::filesystem::is_regular_file(path) && !std::filesystem::is_directory(path)) return;  // the run reports it
  const ModelConfig config = resumes ? config_of_state(path) : config_of(path, given.vocabs);
  const auto flags = flags_of_model();
  TrainOptions theirs = with_config(config);
  if (config.rnn.encoder.pooling == EncoderPooling::hierarchical && !Given(options)("sentence-ends"))
    given.sentence_marks.clear();  // the pieces are those of the model
  for (const ConfigField& field : model_config_fields())
    if (field.option.empty()) assign(field.member(given), field.member(theirs));
  for (const Option& stored : bind_flags(flags, theirs)) {
    // Of Transformers, another option says which cell there is, and check_train() refuses or ignores others.
    if (stored.name == "dec-cell" && config.type != ModelType::s2s) continue;
    Option& option = *std::ranges::find(options, stored.name, &Option::name);
    const Strings wanted = stored.show();
    const bool given_or_preset = option.given || option.preset;
    if (!given_or_preset) {
      option.set(wanted);
      option.given = true;
    } else if (option.show() != wanted && !is_of_training(option.name) && !is_implied(option, config)) {
      refuse(given, option, path, wanted);
    }
  }
}

}  // namespace dragoman
