#pragma once
#include <string>
#include <vector>

#include "model/config.h"

namespace dragoman {

/// A model's configuration as the JSON object that model files hold: keys are ModelConfig's members, enums their names.
std::string to_json(const ModelConfig& config);

/// Members that the text lacks keep their defaults. Error, naming `where`, for text that is no JSON object and for
/// keys, types and names that are unknown: a file from a newer version is not half understood.
ModelConfig config_from_json(const std::string& text, const std::string& where);

/// A member that two configurations differ in, what the user calls it ("--enc-depth", or else the member), and its
/// values as to_json() writes them.
struct ConfigDifference {
  std::string member, name, first, second;
};
std::vector<ConfigDifference> differences(const ModelConfig& first, const ModelConfig& second);

}  // namespace dragoman
