#pragma once
#include <cstdint>

/// Stands in for the matrix units: what their instructions compute, as PTX describes it.
namespace dragoman::cuda {

void multiply_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
void multiply_f16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
void multiply_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
void load_matrices(uint32_t (&to)[4], const void* row);
void load_transposed(uint32_t (&to)[4], const void* row);

}  // namespace dragoman::cuda
