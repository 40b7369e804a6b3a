#pragma once
#include "interop/open_model.h"
#include "io/model_file.h"

namespace dragoman {

/// How to open the model of --pretrained-model; `paths` are those of --vocabs. Marian models do not contain their
/// vocabularies: if the files of --vocabs exist, they are the model's vocabularies.
OpenOptions pretrained_options(const std::string& model, const std::vector<std::string>& paths);

/// Error if the model of --pretrained-model was trained with other vocabularies, unless those of this run only have
/// more pieces (vocab/protected_symbols.h), or if tensor names or shapes differ from those of the parameters, which
/// need no values. That options without a shape are the model's too is the work of inherit_model(). `paths` are those
/// of --vocabs. Converts no weights.
void require_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                        const std::vector<std::string>& paths);

/// The first of these checks, for which no parameters are needed.
void require_pretrained_vocabularies(const std::string& model, const Vocabularies& vocabularies,
                                     const std::vector<std::string>& paths);

/// Sets the parameters from it, after the same checks. Embeddings and output rows of more pieces are the mean of the
/// others.
TrainedLengths load_pretrained(const std::string& model, const Parameters& parameters, const Vocabularies& vocabularies,
                               const std::vector<std::string>& paths);

}  // namespace dragoman
