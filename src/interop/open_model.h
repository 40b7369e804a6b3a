#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"
#include "interop/languages.h"

namespace dragoman {

/// Settings that a model of another program may lack.
struct OpenOptions {
  std::vector<std::string> vocabs = {};  // of a model of another program, if nothing beside it names them
  Languages languages = {};
};

/// A model of another program (docs/existing_models.md); nullopt: the file is not a model of a known program.
std::optional<ConvertedModel> read_foreign_model(const std::string& path, const OpenOptions& options = {});

/// A model of ours, or one of another program, which is converted in memory: this takes as much memory as the converted
/// file would on disk, for the lifetime of the ModelFile. A model of ours contains
/// its vocabularies, so that `vocabs` is ignored.
ModelFile open_model(const std::string& path, const OpenOptions& options = {});

/// The bytes of a file; for a folder that was converted in memory, those of its tensors.
int64_t stored_bytes(const SafetensorsFile& file);

}  // namespace dragoman
