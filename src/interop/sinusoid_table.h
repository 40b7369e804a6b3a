#pragma once
#include <optional>

#include "interop/foreign_tensor.h"
#include "nn/positions.h"

namespace dragoman {

/// The first rows (rows, D) of a table of sinusoids.
std::vector<float> sinusoid_rows(const SinusoidDesign& design, int64_t rows);

/// The design of the sinusoids in a stored table (positions, D); nullopt if it contains no sinusoids.
std::optional<SinusoidDesign> recognise_sinusoids(const ForeignTensor& table);

}  // namespace dragoman
