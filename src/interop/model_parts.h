#pragma once
#include <string>
#include <vector>

namespace dragoman {

/// The existing files that open_model may read for these models besides the ones named here: those in the folder of a
/// model, those that a decoder.yml names, and the vocabularies and tokenizers beside a model of another program. A
/// command must not overwrite them. Empty for dragoman's own models. Error for a broken decoder.yml
/// or config.json.
std::vector<std::string> parts_of_models(const std::vector<std::string>& models);

}  // namespace dragoman
