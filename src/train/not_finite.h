#pragma once
#include <optional>
#include <string>

#include "nn/parameters.h"
#include "tensor/arena.h"

namespace dragoman {

/// Finding what went wrong first in an update that is not finite. Each names one tensor for people, and gives an empty
/// string, or nothing, when all values are finite. Costs a pass over the data.

std::string first_bad_weight(const Backend& backend, Arena& arena, const Parameters& parameters);

/// Of the outputs that a forward pass recorded, in the order of computing.
struct BadOutput {
  size_t record;  // its number on the tape, from 0
  std::string what;
};
std::optional<BadOutput> first_bad_output(const Backend& backend, Arena& arena, const Tape& tape);

/// Gradients are computed from the last layer to the first.
std::string first_bad_gradient(const Backend& backend, Arena& arena, const Parameters& parameters);

}  // namespace dragoman
