#pragma once
#include "interop/export.h"

namespace dragoman {

/// Writes the files of a folder for transformers' MarianMT beside the weights: config.json, generation_config.json,
/// tokenizer_config.json, vocab.json and, if vocabularies differ, target_vocab.json; source.spm and target.spm if
/// SentencePiece splits the text.
void write_huggingface_files(const OutputFolder& folder, const ModelFile& model);

/// Whether both vocabularies get one more piece, <pad>, which such folders need. Its embedding is zero, so that a
/// decoder that begins with zeros can begin with it, and it has no probability.
bool adds_pad(const ModelConfig& config);

/// The logit of such a <pad>: its share vanishes in float32, float16 can represent it, and label smoothing over all
/// pieces, as in fine-tuning, is unchanged.
inline constexpr float logit_of_pad = -100;

}  // namespace dragoman
