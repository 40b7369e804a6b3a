#pragma once
#include "interop/open_model.h"
#include "io/model_file.h"

namespace dragoman {

/// How the model of --pretrained-model is opened; `paths` are those of --vocabs. Marian's models leave their
/// vocabularies to the command line: if these files are there, they are the model's.
OpenOptions pretrained_options(const std::string& model, const std::vector<std::string>& paths);

/// Gives the parameters the values of a model file (--pretrained-model). Error when it was trained with other
/// vocabularies, has tensors of other names or shapes, or would mean something else with the options of this run.
/// `paths` are those of --vocabs.
void load_pretrained(const std::string& model, const Parameters& parameters, const ModelConfig& config,
                     const Vocabularies& vocabularies, const std::vector<std::string>& paths);

}  // namespace dragoman
