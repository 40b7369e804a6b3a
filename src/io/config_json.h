#pragma once
#include <string>
#include <vector>

#include "model/config.h"

namespace dragoman {

/// A model's configuration as the JSON object that model files hold: keys are ModelConfig's members, enums their names.
std::string to_json(const ModelConfig& config);

/// Absent members keep their defaults. Error, naming `where`, for text that is not a JSON object and for unknown keys,
/// types and names: a file of a newer version is rejected rather than misread.
ModelConfig config_from_json(const std::string& text, const std::string& where);

/// A member in which two configurations differ, the name the user knows it by ("--enc-depth", or else the member), and
/// its values as to_json() writes them.
struct ConfigDifference {
  std::string member, name, first, second;
};
std::vector<ConfigDifference> differences(const ModelConfig& first, const ModelConfig& second);

}  // namespace dragoman
