#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/vocabulary.h"

namespace YAML {
class Node;
}

namespace dragoman {

/// The key of Marian's configurations that makes file names relative to their folder.
inline constexpr std::string_view marian_relative_paths = "relative-paths";

/// Whether a configuration, which is a mapping, has this key with one of YAML's words for true. Error, naming `path`,
/// if its value is no truth value.
bool has_relative_paths(const YAML::Node& configuration, const std::string& path);

/// The files of a Marian model.
struct MarianFiles {
  std::string model;  // is_marian_npz, else MODEL.bin
  std::vector<std::string> vocabs;
};

/// Whether it is an archive of arrays (npz), whatever its name.
bool is_marian_npz(const std::string& path);

/// `path` is a model, or a decoder configuration, which names a model and its vocabularies, or a folder with such a
/// decoder.yml, unless it has a config.json too. nullopt: not a Marian file. Error for a configuration with several
/// models.
std::optional<MarianFiles> find_marian_files(const std::string& path);

/// Vocabularies, and the configuration that names them.
struct NamedVocabularies {
  std::string path;
  std::vector<std::string> vocabs;
};

/// The vocabularies named by MODEL.decoder.yml, decoder.yml or MODEL.yml beside a model. nullopt: none of them does.
std::optional<NamedVocabularies> find_vocabularies_beside(const std::string& model);

/// The same vocabularies. Error if there are none.
std::vector<std::string> vocabularies_beside(const std::string& model);

/// The pieces <0x00> to <0x1F> of a vocabulary with byte fallback, which Marian never generates. It does not look for
/// them in lists of pieces.
std::vector<int> control_bytes(const Vocabulary& vocabulary);

}  // namespace dragoman
