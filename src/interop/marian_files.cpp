#include "interop/marian_files.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/number.h"
#include "interop/marian_names.h"
#include "interop/zip.h"
#include "io/model_file.h"
#include "vocab/container.h"
#include "vocab/piece_list.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// The first bytes of a file: fewer if the file is shorter, none if it is not a regular file.
std::string first_bytes(const std::string& path, size_t count) {
  if (!fs::is_regular_file(path)) return "";
  FileDescriptor file = FileDescriptor::to_read(path);
  std::string bytes(count, '\0');
  size_t done = 0;
  for (size_t more = 1; done < count && more > 0; done += more) more = file.read(bytes.data() + done, count - done);
  bytes.resize(done);
  return bytes;
}

// MODEL.bin begins with the version of its format.
bool is_marian_bin(const std::string& path) {
  uint64_t version = 0;
  if (!path.ends_with(".bin")) return false;
  const std::string first = first_bytes(path, sizeof(version));
  if (first.size() < sizeof(version)) return false;
  std::memcpy(&version, first.data(), sizeof(version));
  return version == 1 || version == 2;
}

bool is_yaml(const std::string& path) {
  return (path.ends_with(".yml") || path.ends_with(".yaml")) && fs::is_regular_file(path);
}

bool lists_pieces(const std::string& text, const std::string& path) {
  try {
    return !pieces_of_yaml(text, path).empty();
  } catch (const Error&) {
    return false;
  }
}

// Null for a list of pieces that is not YAML, such as one with the line "@cat: 4".
YAML::Node parse(const std::string& path) {
  const std::string text = read_regular_file(path);
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& e) {
    if (lists_pieces(text, path)) return {};
    fail("{}: no YAML: {}", path, e.what());
  }
}

// Lists of pieces are mappings too: one of them may have the piece "models".
bool is_id(const YAML::Node& value) { return value.IsScalar() && parse_number<int64_t>(value.Scalar()).has_value(); }

// The files that a configuration names under `key`, relative to its folder if it says so, else to the working
// directory. Also finds them if the configuration was moved together with its files.
std::vector<std::string> files_of(const YAML::Node& configuration, const std::string& path, const char* key) {
  std::vector<std::string> files;
  if (!configuration.IsMap()) return {};
  const YAML::Node list = configuration[key];
  if (!list || is_id(list)) return {};
  require(list.IsSequence(), "{}: {} is not a list of files", path, key);
  const fs::path folder = fs::path(path).parent_path();
  const bool relative = has_relative_paths(configuration, path);
  for (const YAML::Node& entry : list) {
    require(entry.IsScalar(), "{}: {} is not a list of files", path, key);
    const fs::path name = entry.Scalar(), beside = folder / name.filename();
    if (relative && name.is_relative())
      files.push_back(folder / name);
    else
      files.push_back(!fs::exists(name) && fs::exists(beside) ? beside : name);
  }
  return files;
}

// Those who come from Marian give the model of dragoman the name that it had, and keep the configuration.
void refuse_safetensors(const std::string& model, const std::string& configuration) {
  constexpr size_t enough = 16;
  const std::string_view kind = kind_of_binary(first_bytes(model, enough));
  if (kind != "a safetensors file") return;
  throw Error(fmt::format("{} names {}, which is {}, not a model of Marian", configuration, model,
                          is_model_file(model) ? "a dragoman model" : kind),
              fmt::format("give the file itself as the model: {}; --config {} reads the options of translate and score",
                          model, configuration));
}

}  // namespace

bool has_relative_paths(const YAML::Node& configuration, const std::string& path) {
  const YAML::Node value = configuration[std::string(marian_relative_paths)];
  bool relative = false;
  require(!value || YAML::convert<bool>::decode(value, relative), "{}: {}: '{}' is neither true nor false", path,
          marian_relative_paths, value ? YAML::Dump(value) : "");
  return relative;
}

// Models of dragoman may have such a name, too, and other programs' models are zip archives, too.
bool is_marian_npz(const std::string& path) {
  if (first_bytes(path, 4) != "PK\3\4") return false;
  if (path.ends_with(".npz")) return true;
  const ZipFile zip(path);
  return std::ranges::count(zip.entries(), std::string(marian_options_tensor) + ".npy", &ZipFile::Entry::name) > 0;
}

std::optional<MarianFiles> find_marian_files(const std::string& path) {
  if (is_marian_npz(path) || is_marian_bin(path)) return {{path, {}}};
  const fs::path inside = fs::path(path) / "decoder.yml";
  if (is_yaml(inside) && !fs::exists(fs::path(path) / "config.json")) return find_marian_files(inside);
  if (!is_yaml(path)) return std::nullopt;
  const YAML::Node configuration = parse(path);
  const std::vector<std::string> models = files_of(configuration, path, "models");
  if (models.empty()) return std::nullopt;
  if (models.size() > 1)
    throw Error(fmt::format("{} names {} models, expected one", path, models.size()),
                "give the models themselves: --models " + fmt::format("{}", fmt::join(models, " ")));
  refuse_safetensors(models[0], path);
  return {{models[0], files_of(configuration, path, "vocabs")}};
}

std::optional<NamedVocabularies> find_vocabularies_beside(const std::string& model) {
  const std::string folder = fs::path(model).parent_path();
  for (const std::string& path :
       {model + ".decoder.yml", std::string(fs::path(folder) / "decoder.yml"), model + ".yml"}) {
    if (!is_yaml(path)) continue;
    std::vector<std::string> files = files_of(parse(path), path, "vocabs");
    if (!files.empty()) return {{path, std::move(files)}};
  }
  return std::nullopt;
}

std::vector<std::string> vocabularies_beside(const std::string& model) {
  if (auto found = find_vocabularies_beside(model)) return std::move(found->vocabs);
  throw Error(
      fmt::format("{}: no file next to it names its vocabularies (looked for {}.decoder.yml, decoder.yml and {}.yml)",
                  model, model, model),
      "name them: dragoman convert --input MODEL --vocabs SOURCE TARGET --output OUT");
}

std::vector<int> control_bytes(const Vocabulary& vocabulary) {
  std::vector<int> ids;
  if (is_container(vocabulary.bytes())) return ids;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.is_byte(id) && vocabulary.piece(id) < "<0x20>") ids.push_back(id);
  return ids;
}

}  // namespace dragoman
