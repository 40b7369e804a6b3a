#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "interop/yaml_fields.h"

namespace dragoman {

/// A vocabulary of a JoeyNMT model, and the file of its tokenizer.
struct JoeyNmtText {
  std::string vocabulary;
  std::string tokenizer;  // empty: text is split at blanks
};

/// The files of a JoeyNMT model.
struct JoeyNmtFiles {
  std::string checkpoint;
  std::string config;  // config.yaml
  YamlFields options;  // what is in it
  std::array<JoeyNmtText, 2> texts;
};

/// `path` is a folder with config.yaml and checkpoints, or a checkpoint beside a config.yaml. Other files are where
/// config.yaml says, or in the folder. nullopt: not a model of JoeyNMT. Error, naming the file, for one that is
/// missing.
std::optional<JoeyNmtFiles> find_joeynmt_files(const std::string& path);

/// All files of such a model. The content of a checkpoint is not looked at.
std::vector<std::string> joeynmt_parts(const std::string& path);

}  // namespace dragoman
