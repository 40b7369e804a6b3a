#pragma once
#include <cstdint>
#include <nv/target>

/// Products on a warp's matrix units, from compute capability 8.0 on:  c (16,8) += a (16,K) · b (K,8), with f32 sums.
/// Lane (g = lane / 4, t = lane % 4) holds the elements (g,2t) (g,2t+1) (g+8,2t) (g+8,2t+1) of c. All lanes must call.
/// Code for earlier GPUs, where nobody calls these (has_matrix_units), ends the kernel with an error. PTX defines which
/// elements of a and b a lane holds ("Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8").
namespace dragoman::cuda {

/// K = 16; two bfloat16 in each word.
__device__ inline void multiply_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_80,
      (asm volatile(
           "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
           : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));),
      (__trap();))
}

/// K = 16; two float16 in each word.
__device__ inline void multiply_f16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_80,
      (asm volatile(
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
           : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));),
      (__trap();))
}

/// K = 8; one float in each word, of which the unit uses the sign, the exponent and ten more bits.
__device__ inline void multiply_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  NV_IF_ELSE_TARGET(
      NV_PROVIDES_SM_80,
      (asm volatile(
           "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
           : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
           : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));),
      (__trap();))
}

/// Loads four matrices (8,8) of 16-bit numbers from shared memory. Lane l passes the address of row l % 8 of matrix l /
/// 8, a multiple of 16 bytes. Lane (g, t) gets elements (g,2t) (g,2t+1) of each.
__device__ inline void load_matrices(uint32_t (&to)[4], const void* row) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                    (asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                                  : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                                  : "r"(uint32_t(__cvta_generic_to_shared(row)))
                                  : "memory");),
                    (__trap();))
}

/// The same, transposed: lane (g, t) gets elements (2t,g) (2t+1,g).
__device__ inline void load_transposed(uint32_t (&to)[4], const void* row) {
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80,
                    (asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                                  : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                                  : "r"(uint32_t(__cvta_generic_to_shared(row)))
                                  : "memory");),
                    (__trap();))
}

}  // namespace dragoman::cuda
