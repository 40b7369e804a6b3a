#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// The files of a Marian model.
struct MarianFiles {
  std::string model;  // .npz or .bin
  std::vector<std::string> vocabs;
};

/// `path` is a model, or a decoder configuration, which names a model and its vocabularies. nullopt: not a Marian file.
/// Error for a configuration with several models.
std::optional<MarianFiles> find_marian_files(const std::string& path);

/// The vocabularies named by MODEL.decoder.yml, decoder.yml or MODEL.yml beside a model. Error if none of them does.
std::vector<std::string> vocabularies_beside(const std::string& model);

}  // namespace dragoman
