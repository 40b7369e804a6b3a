#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// A checkpoint of OpenNMT-py 3 (model_step_1000.pt) with a Transformer for translation. It contains its lists of
/// tokens; `vocabs`, or files beside it, split text into them. nullopt: the file is not such a checkpoint. Error,
/// naming the file and the option or tensor, for what dragoman does not support.
std::optional<ConvertedModel> read_opennmt(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
