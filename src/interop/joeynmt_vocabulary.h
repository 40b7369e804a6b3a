#pragma once
#include <string>
#include <vector>

#include "interop/joeynmt_files.h"
#include "io/model_file.h"

namespace dragoman {

/// The list of pieces of a side (0: source): of the configuration, or of --vocabs.
std::string joeynmt_list(const JoeyNmtFiles& files, const std::vector<std::string>& vocabs, size_t side);

/// The vocabularies of a JoeyNMT model; sets their sizes, the ids of special tokens and the tokens that are never
/// generated. `vocabs`, if not empty, names a list of tokens (.txt) or a tokenizer for each side, in place of the
/// model's own.
Vocabularies joeynmt_vocabularies(const JoeyNmtFiles& files, const std::vector<std::string>& vocabs,
                                  ModelConfig& config);

}  // namespace dragoman
