#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads an OpenNMT-py 3 checkpoint (model_step_1000.pt) of a Transformer for translation. It contains its token lists;
/// the tokenizer is `vocabs` or files beside the checkpoint. nullopt: the file is not such a checkpoint. Error, naming
/// the file and the option or tensor, for what dragoman does not support.
std::optional<ConvertedModel> read_opennmt(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
