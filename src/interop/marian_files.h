#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// What a model of Marian consists of.
struct MarianFiles {
  std::string model;  // .npz or .bin
  std::vector<std::string> vocabs;
};

/// `path` is a model, or the configuration of a decoder that names one; vocabularies are those that the configuration
/// names, if it is one. nullopt: the file is not of Marian. Error for a configuration of several models.
std::optional<MarianFiles> find_marian_files(const std::string& path);

/// The vocabularies that MODEL.decoder.yml, decoder.yml or MODEL.yml beside a model names. Error if none does.
std::vector<std::string> vocabularies_beside(const std::string& model);

}  // namespace dragoman
