#pragma once
#include <string>

#include "model/config.h"

namespace dragoman {

/// A model's configuration as the JSON object that model files hold: keys are ModelConfig's members, enums their names.
std::string to_json(const ModelConfig& config);

/// Members that the text lacks keep their defaults. Error, naming `where`, for text that is no JSON object and for
/// keys, types and names that are unknown: a file from a newer version is not half understood.
ModelConfig config_from_json(const std::string& text, const std::string& where);

}  // namespace dragoman
