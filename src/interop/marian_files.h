#pragma once
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// The files of a model of Marian.
struct MarianFiles {
  std::string model;  // .npz or .bin
  std::vector<std::string> vocabs;
};

/// `path` is a model, or the configuration of a decoder that names one; in this case it also names the vocabularies.
/// nullopt: the file is not one of Marian. Error for a configuration of several models.
std::optional<MarianFiles> find_marian_files(const std::string& path);

/// The vocabularies that MODEL.decoder.yml, decoder.yml or MODEL.yml beside a model names. Error if none does.
std::vector<std::string> vocabularies_beside(const std::string& model);

}  // namespace dragoman
