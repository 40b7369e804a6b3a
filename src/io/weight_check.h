#pragma once
#include <span>
#include <string>

#include "io/safetensors.h"
#include "model/config.h"

namespace dragoman {

class Parameters;

// Checks of the tensors of a model by their names, types and shapes. No weight is read. Errors name `path`.

/// Error for a configuration whose weights cannot be among the tensors. Without this check, a model of a million layers
/// would exhaust memory first.
void require_sizes(std::span<const TensorEntry> tensors, const ModelConfig& config, const std::string& path);

/// Error if a weight is missing, unknown or of another shape. Tensors of vocabularies may be among them.
void require_weights(std::span<const TensorEntry> tensors, const Parameters& parameters, const std::string& path);

/// Both, for a model of this configuration, which takes addresses but no memory.
void require_weights(std::span<const TensorEntry> tensors, const ModelConfig& config, const std::string& path);

}  // namespace dragoman
