#include "interop/joeynmt_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "interop/torch_file.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// As JoeyNMT finds files of a model that was moved: where the configuration says, else in its folder.
std::string find_named(const fs::path& named, const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(named, ignored) ? named : folder / named.filename();
}

std::string only_checkpoint(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code ignored;  // no entries then
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".ckpt") found.push_back(entry.path());
  std::ranges::sort(found);
  require(!found.empty(), "{} has config.yaml of JoeyNMT but no checkpoint (.ckpt)", folder.string());
  if (found.size() > 1)
    throw Error(
        fmt::format("{} has {} checkpoints, none of which is best.ckpt or latest.ckpt", folder.string(), found.size()),
        "give one of them: " + found.back());
  return found[0];
}

// The one of the option testing.load_model, the best or the latest.
std::string checkpoint_in(const fs::path& folder, const YamlFields& options) {
  std::error_code ignored;
  const auto testing = options.inside("testing");
  if (testing && testing->has("load_model")) {
    const std::string named = find_named(testing->text("load_model", ""), folder);
    if (fs::is_regular_file(named, ignored)) return named;
  }
  for (const char* usual : {"best.ckpt", "latest.ckpt"})
    if (fs::is_regular_file(folder / usual, ignored)) return folder / usual;
  return only_checkpoint(folder);
}

JoeyNmtText text_of(const YamlFields& side, const fs::path& folder, const char* vocabulary) {
  JoeyNmtText text;
  text.vocabulary =
      side.has("voc_file") ? find_named(side.text("voc_file", ""), folder) : std::string(folder / vocabulary);
  if (const auto tokenizer = side.inside("tokenizer_cfg"); tokenizer && side.text("level", "") == "bpe")
    for (const char* file : {"model_file", "codes"})
      if (tokenizer->has(file)) text.tokenizer = find_named(tokenizer->text(file, ""), folder);
  return text;
}

bool is_checkpoint(const std::string& path) {
  if (!looks_like_torch(path)) return false;
  const TorchFile file = *read_torch(path);
  const auto* checkpoint = file.root().as<PickleDict>();
  return checkpoint && checkpoint->find("model_state");
}

// nullopt: there is no config.yaml of a model, or a config.json, as in folders of other programs.
std::optional<JoeyNmtFiles> described_files(const std::string& path) {
  std::error_code ignored;
  const bool in_folder = fs::is_directory(path, ignored);
  const fs::path folder = in_folder ? fs::path(path) : fs::absolute(path).parent_path(),
                 config = folder / "config.yaml";
  if (!fs::is_regular_file(config, ignored) || (in_folder && fs::exists(folder / "config.json", ignored)))
    return std::nullopt;
  const YamlFields options = YamlFields::of_text(read_regular_file(config), config);
  if (!options.has("model") || !options.has("data")) return std::nullopt;
  const YamlFields data = options.section("data");
  return JoeyNmtFiles{
      in_folder ? checkpoint_in(folder, options) : path,
      config,
      options,
      {text_of(data.section("src"), folder, "src_vocab.txt"), text_of(data.section("trg"), folder, "trg_vocab.txt")}};
}

}  // namespace

std::optional<JoeyNmtFiles> find_joeynmt_files(const std::string& path) {
  if (fs::is_directory(path)) return described_files(path);
  if (!is_checkpoint(path)) return std::nullopt;
  if (auto files = described_files(path)) return files;
  throw Error(path + " is a checkpoint of JoeyNMT without the config.yaml that describes it",
              "copy the config.yaml into the folder of the checkpoint");
}

std::vector<std::string> joeynmt_parts(const std::string& path) {
  if (!fs::is_directory(path) && !looks_like_torch(path)) return {};
  const auto files = described_files(path);
  if (!files) return {};
  std::vector<std::string> parts = {files->checkpoint, files->config};
  for (const JoeyNmtText& text : files->texts)
    for (const std::string& part : {text.vocabulary, text.tokenizer})
      if (!part.empty()) parts.push_back(part);
  return parts;
}

}  // namespace dragoman
