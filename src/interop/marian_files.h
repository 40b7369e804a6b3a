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

/// `path` is a model, or the configuration of a decoder that names one. Vocabularies that are not given are those of
/// that configuration, or of MODEL.decoder.yml, decoder.yml or MODEL.yml beside a model. nullopt: the file is not of
/// Marian. Error for a configuration of several models and for vocabularies that nothing names.
std::optional<MarianFiles> find_marian_files(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
