#pragma once
#include <optional>

#include "interop/foreign_tensor.h"
#include "nn/positions.h"

namespace dragoman {

/// The first rows of a table (rows, D).
std::vector<float> sinusoid_rows(const SinusoidDesign& design, int64_t rows);

/// The sinusoids that a stored table (positions, D) holds, if any.
std::optional<SinusoidDesign> recognise_sinusoids(const ForeignTensor& table);

}  // namespace dragoman
