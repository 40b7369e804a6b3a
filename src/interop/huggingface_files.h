#pragma once
#include "interop/export.h"

namespace dragoman {

/// Writes what folders of transformers' MarianMT have beside the weights: config.json, generation_config.json,
/// tokenizer_config.json, vocab.json and, where vocabularies differ, target_vocab.json; source.spm and target.spm if
/// SentencePiece splits the text.
void write_huggingface_files(const OutputFolder& folder, const ModelFile& model);

/// Whether both vocabularies get one more piece, <pad>: such folders need one. Its embedding is zero, so that it is
/// what a decoder is given first that begins with zeros, and it has no probability.
bool adds_pad(const ModelConfig& config);

/// The logit of such a <pad>: its share is lost in float32, numbers in float16 hold it, and label smoothing over all
/// pieces, as in fine-tuning, stays what it was.
inline constexpr float logit_of_pad = -100;

}  // namespace dragoman
