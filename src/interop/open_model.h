#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// What a file of another program does not say itself.
struct ForeignOptions {
  std::vector<std::string> vocabs;  // vocabularies of source and target; empty: those named beside the model
};

/// A model of another program (docs/existing_models.md); nullopt: the file is none, or not of a program that is known.
std::optional<ConvertedModel> read_foreign_model(const std::string& path, const ForeignOptions& options = {});

/// A model of ours, or one of another program, which is converted in memory: this takes as much memory as the converted
/// file would on disk, until the ModelFile is gone.
ModelFile open_model(const std::string& path, const ForeignOptions& options = {});

}  // namespace dragoman
