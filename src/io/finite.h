#pragma once
#include <span>
#include <string>

#include "tensor/tensor.h"

namespace dragoman {

/// Whether no value is infinite or NaN.
bool is_finite(std::span<const float> values);

/// The largest magnitude. Error, naming `where`, if a value is infinite or NaN: such a model computes nothing but NaN.
float require_finite(std::span<const float> values, const std::string& where);

void require_finite(std::span<const double> values, const std::string& where);

/// The same for a contiguous tensor that the host can read.
void require_finite(const Tensor& values, const std::string& where);

}  // namespace dragoman
