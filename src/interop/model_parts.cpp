#include "interop/model_parts.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "interop/joeynmt_files.h"
#include "interop/json_object.h"
#include "interop/marian_files.h"
#include "interop/sockeye.h"
#include "interop/splitting.h"
#include "interop/torch_file.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using Files = std::vector<std::string>;

bool is_tokenizer(const std::string& name) {
  return std::ranges::any_of(Files{"source", "target"},
                             [&](const std::string& side) { return std::ranges::count(tokenizer_names(side), name); });
}

bool is_fairseq_dictionary(const std::string& name) { return name.starts_with("dict.") && name.ends_with(".txt"); }

// What the folders of Hugging Face, CTranslate2, Argos Translate and Marian hold, except for Hugging Face's weights.
bool is_part_of_folder(const std::string& name) {
  static constexpr std::string_view parts[] = {"config.json",
                                               "generation_config.json",
                                               "tokenizer_config.json",
                                               "tokenizer.json",
                                               "added_tokens.json",
                                               "special_tokens_map.json",
                                               "vocab.json",
                                               "target_vocab.json",
                                               "metadata.json",
                                               "shared_vocabulary.json",
                                               "shared_vocabulary.txt",
                                               "source_vocabulary.json",
                                               "source_vocabulary.txt",
                                               "target_vocabulary.json",
                                               "target_vocabulary.txt",
                                               "model.bin",
                                               "decoder.yml"};
  return std::ranges::count(parts, name) > 0 || is_tokenizer(name);
}

// One file, or numbered ones and their index.
bool is_huggingface_weights(const std::string& name) {
  constexpr const char* digits = "[0-9][0-9][0-9][0-9][0-9]";
  for (const auto& [stem, extension] : {std::pair("model", "safetensors"), std::pair("pytorch_model", "bin")}) {
    const std::string whole = fmt::format("{}.{}", stem, extension);
    const std::string numbered = fmt::format("{}-{}-of-{}.{}", stem, digits, digits, extension);
    if (name == whole || name == whole + ".index.json" || fnmatch(numbered.c_str(), name.c_str(), 0) == 0) return true;
  }
  return false;
}

void add_from(const fs::path& folder, bool (*is_part)(const std::string& name), Files& parts) {
  std::error_code ignored;  // whoever opens the model reports it
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (is_part(entry.path().filename())) parts.push_back(entry.path());
}

void add_marian_parts(const std::string& path, Files& parts) {
  const std::optional<MarianFiles> files = find_marian_files(path);
  if (!files) return;
  parts.push_back(files->model);
  Files vocabs = files->vocabs;
  if (vocabs.empty())
    if (auto beside = find_vocabularies_beside(files->model)) {
      parts.push_back(beside->path);
      vocabs = std::move(beside->vocabs);
    }
  for (const std::string& vocab : vocabs) {
    parts.push_back(vocab);
    const fs::path folder = fs::absolute(vocab).parent_path();
    add_from(folder, is_tokenizer, parts);
  }
}

void add_parts(const std::string& path, Files& parts) {
  const bool folder = fs::is_directory(path);
  if (!folder && !fs::is_regular_file(path)) return;
  add_marian_parts(path, parts);
  for (const Files& all : {joeynmt_parts(path), sockeye_parts(path)}) parts.insert(parts.end(), all.begin(), all.end());
  if (folder) {
    for (const fs::path& inside : {fs::path(path), fs::path(path) / "model"})
      add_from(inside, is_part_of_folder, parts);
    if (JsonObject(fs::path(path) / "config.json").has("model_type")) add_from(path, is_huggingface_weights, parts);
  } else if (looks_like_torch(path)) {
    add_from(
        fs::absolute(path).parent_path(),
        [](const std::string& name) { return is_tokenizer(name) || is_fairseq_dictionary(name); }, parts);
  }
}

}  // namespace

std::vector<std::string> parts_of_models(const std::vector<std::string>& models) {
  Files parts;
  for (const std::string& model : models) add_parts(model, parts);
  std::error_code ignored;
  std::erase_if(parts, [&](const std::string& part) { return !fs::exists(part, ignored); });
  return parts;
}

}  // namespace dragoman
