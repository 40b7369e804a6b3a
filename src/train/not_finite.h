#pragma once
#include <optional>
#include <string>

#include "nn/parameters.h"
#include "tensor/arena.h"

namespace dragoman {

/// Finds the first non-finite tensor of an update. Each function describes one tensor for messages, and returns an
/// empty string or nullopt if all values are finite. The cost is one pass over the data.

std::string first_bad_weight(const Backend& backend, Arena& arena, const Parameters& parameters);

/// Searches the outputs that a forward pass recorded, in the order of computation.
struct BadOutput {
  size_t record;  // its index on the tape, from 0
  std::string what;
};
std::optional<BadOutput> first_bad_output(const Backend& backend, Arena& arena, const Tape& tape);

/// Searches the gradients in the order of computation, from the last layer to the first.
std::string first_bad_gradient(const Backend& backend, Arena& arena, const Parameters& parameters);

}  // namespace dragoman
