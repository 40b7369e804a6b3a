#pragma once
#include <optional>

#include "interop/foreign_tensor.h"
#include "nn/positions.h"

namespace dragoman {

/// Which sinusoids a stored table (positions, D) holds, if any.
std::optional<SinusoidDesign> recognise_sinusoids(const ForeignTensor& table);

}  // namespace dragoman
