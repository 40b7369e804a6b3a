#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "model/config.h"

namespace dragoman {

/// Throws Error unless the configuration is possible: numbers within bounds, sizes that divide, kinds of layers that
/// fit together. Messages name fields by their options. Called for command lines, for model files, and by make_model().
void validate(const ModelConfig& config);

/// The same for a configuration that was read from `where`, which the message names.
void validate(const ModelConfig& config, const std::string& where);

/// Throws Error for a field whose option was given although a model of this configuration has no such field.
void refuse_unused(const ModelConfig& config, const std::function<bool(std::string_view option)>& given);

}  // namespace dragoman
