#include "backend/cuda/matrix_units.cuh"

#include <cuda_runtime.h>

#include <array>
#include <bit>

#include "base/error.h"
#include "tensor/float16.h"
#include "tests/cuda_on_host/memory.h"

namespace dragoman::cuda {
namespace {

/// Factors of a product of 16 x K and K x 8 numbers, K up to 16.
struct Factors {
  float a[16][16], b[8][16];  // (row, k), (column, k)
};
static_assert(sizeof(Factors) <= cuda_on_host::warp_bytes);

/// Lane (g, t) holds columns of rows g (words a0, a2) and g + 8 (a1, a3) of a, and rows of column g of b (b0, b1). The
/// first half of them is in a0, a1 and b0, and t is its word of that half. A word holds `packed` adjacent numbers. Its
/// results are columns 2 t and 2 t + 1 of these rows.
template <int packed, class F>
void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const F& part) {
  auto& all = *static_cast<Factors*>(cuda_on_host::warp_memory());
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int half = 0; half < 2; ++half)
    for (int n = 0; n < packed; ++n) {
      const int k = (4 * half + t) * packed + n;
      all.a[g][k] = part(a[2 * half], n);
      all.a[g + 8][k] = part(a[2 * half + 1], n);
      all.b[g][k] = part(b[half], n);
    }
  cuda_on_host::wait_for_warp();
  for (int e = 0; e < 4; ++e) {
    float sum = c[e];
    for (int k = 0; k < 8 * packed; ++k) sum += all.a[g + e / 2 * 8][k] * all.b[2 * t + e % 2][k];
    c[e] = sum;
  }
}

using Addresses = std::array<const uint16_t*, 32>;

/// Of the rows of four matrices of 8 x 8 numbers, in the order of lanes.
const Addresses& exchange_addresses(const void* row) {
  auto& rows = *static_cast<Addresses*>(cuda_on_host::warp_memory());
  invariant(reinterpret_cast<uintptr_t>(row) % 16 == 0, "rows of matrices are aligned");
  rows[threadIdx.x % 32] = static_cast<const uint16_t*>(row);
  cuda_on_host::wait_for_warp();
  return rows;
}

uint32_t number_of(const Addresses& rows, int m, int row, int column) {
  uint16_t number = 0;
  cuda_on_host::checked_copy(&number, rows[size_t(8 * m + row)] + column, sizeof number);
  return number;
}

}  // namespace

void load_matrices(uint32_t (&to)[4], const void* row) {
  const Addresses& rows = exchange_addresses(row);
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int m = 0; m < 4; ++m) to[m] = number_of(rows, m, g, 2 * t) | number_of(rows, m, g, 2 * t + 1) << 16;
}

void load_transposed(uint32_t (&to)[4], const void* row) {
  const Addresses& rows = exchange_addresses(row);
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int m = 0; m < 4; ++m) to[m] = number_of(rows, m, 2 * t, g) | number_of(rows, m, 2 * t + 1, g) << 16;
}

void multiply_bf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  multiply<2>(c, a, b,
              [](uint32_t word, int which) { return std::bit_cast<float>(which ? word & 0xffff0000 : word << 16); });
}

void multiply_f16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  multiply<2>(c, a, b, [](uint32_t word, int which) {
    float16 half;
    half.bits = uint16_t(which ? word >> 16 : word);
    return float(half);
  });
}

void multiply_tf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  multiply<1>(c, a, b, [](uint32_t word, int) { return std::bit_cast<float>(word & 0xffffe000); });
}

}  // namespace dragoman::cuda
