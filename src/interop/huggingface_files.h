#pragma once
#include "interop/export.h"

namespace dragoman {

/// Writes the files of a folder for transformers' MarianMT, except the weights: config.json, generation_config.json,
/// tokenizer_config.json, vocab.json and, if vocabularies differ, target_vocab.json; source.spm and target.spm if
/// SentencePiece splits the text.
void write_huggingface_files(const OutputFolder& folder, const ModelFile& model);

/// Whether both vocabularies get an additional piece <pad>, which such folders need. Its embedding is zero, so that a
/// decoder that begins with a zero vector can begin with it, and it is never generated (suppressed_logit).
bool adds_pad(const ModelConfig& config);

}  // namespace dragoman
