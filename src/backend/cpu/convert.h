#pragma once
#include "backend/kernel.h"

namespace dragoman::cpu {

/// to = or += from, each f32 or bf16, on the calling thread.
void convert_rows(const Tensor& to, const Tensor& from, Accumulate mode);

}  // namespace dragoman::cpu
