#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"
#include "interop/languages.h"

namespace dragoman {

/// What a model does not say itself.
struct OpenOptions {
  std::vector<std::string> vocabs = {};  // of a model of another program, if nothing beside it names them
  Languages languages = {};
};

/// A model of another program (docs/existing_models.md); nullopt: the file is not a model of a known program.
std::optional<ConvertedModel> read_foreign_model(const std::string& path, const OpenOptions& options = {});

/// A model of ours, or one of another program, which is converted in memory: this takes as much memory as the converted
/// file would on disk, until the ModelFile is gone. A model of ours holds
/// its vocabularies, so that `vocabs` is ignored.
ModelFile open_model(const std::string& path, const OpenOptions& options = {});

/// Bytes of a file; of a folder that was converted in memory, those of its tensors.
int64_t stored_bytes(const SafetensorsFile& file);

}  // namespace dragoman
