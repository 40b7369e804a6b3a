#pragma once
#include "backend/attention.h"

namespace dragoman::reference {

// Kernels of decoding steps that the cpu backend calls for what it does not compute itself.

/// AttentionKernels::attention_step.
void attention_step(const AttentionKernels::AttentionStep& a);
/// RowKernels::scatter_rows.
void scatter_rows(const Tensor& y, const Tensor& x, const Tensor& rows);

}  // namespace dragoman::reference
