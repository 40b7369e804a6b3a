#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// A checkpoint of fairseq (checkpoint_best.pt) with a Transformer that was trained for its task "translation".
/// dict.SRC.txt and dict.TGT.txt are beside it, or named by `vocabs`; these may instead name files that split text.
/// nullopt: the file is not such a checkpoint. Error, naming the file and the option or tensor, for what dragoman does
/// not support.
std::optional<ConvertedModel> read_fairseq(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
