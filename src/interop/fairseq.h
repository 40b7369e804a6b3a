#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/converted_model.h"

namespace dragoman {

/// Reads a fairseq checkpoint (checkpoint_best.pt) of a Transformer that was trained for the task "translation". The
/// dictionaries dict.SRC.txt and dict.TGT.txt are beside it or named by `vocabs`, which may instead name tokenizer
/// files. nullopt: the file is not such a checkpoint. Error, naming the file and the option or tensor, for what
/// dragoman does not support.
std::optional<ConvertedModel> read_fairseq(const std::string& path, const std::vector<std::string>& vocabs);

}  // namespace dragoman
