#include "backend/cuda/matrix_units.cuh"

#include <cuda_runtime.h>

#include <bit>

#include "base/error.h"
#include "tensor/float16.h"
#include "tests/cuda_on_host/memory.h"

namespace dragoman::cuda {
namespace {

using cuda_on_host::Given;

/// c += a b of the words a0 to a3, b0 and b1 that the lanes hold. In lane (g, t), a0 is in row g of a and a1 in g + 8,
/// a2 and a3 likewise in the second half of the columns; b0 and b1 are in column g of b, in the first and second half
/// of the rows. A word holds `packed` adjacent numbers, so t counts words.
template <int packed, class F>
void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const F& part) {
  const Given& words = cuda_on_host::gather({a[0], a[1], a[2], a[3], b[0], b[1]});
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  float rows[2][8 * packed], columns[2][8 * packed];  // g and g + 8 of a; 2 t and 2 t + 1 of b
  for (int k = 0; k < 8 * packed; ++k) {
    const int half = k / (4 * packed), of_lane = k / packed % 4, in_word = k % packed;
    for (int n = 0; n < 2; ++n) {
      rows[n][k] = part(words[4 * g + of_lane][2 * half + n], in_word);
      columns[n][k] = part(words[4 * (2 * t + n) + of_lane][4 + half], in_word);
    }
  }
  for (int k = 0; k < 8 * packed; ++k)
    for (int e = 0; e < 4; ++e) c[e] += rows[e / 2][k] * columns[e % 2][k];
}

/// Number `column` of row `row` of matrix m, whose rows' addresses are in the first two words of eight lanes.
uint32_t number_of(const Given& addresses, int m, int row, int column) {
  const uint32_t(&words)[cuda_on_host::words_given] = addresses[8 * m + row];
  const uintptr_t address = words[0] | uintptr_t{words[1]} << 32;
  invariant(address % 16 == 0, "rows of matrices are aligned");
  uint16_t number = 0;
  cuda_on_host::checked_copy(&number, reinterpret_cast<const uint16_t*>(address) + column, sizeof number);
  return number;
}

const Given& gather_address(const void* row) {
  const auto address = reinterpret_cast<uintptr_t>(row);
  return cuda_on_host::gather({uint32_t(address), uint32_t(address >> 32)});
}

}  // namespace

void load_matrices(uint32_t (&to)[4], const void* row) {
  const Given& addresses = gather_address(row);
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int m = 0; m < 4; ++m) to[m] = number_of(addresses, m, g, 2 * t) | number_of(addresses, m, g, 2 * t + 1) << 16;
}

void load_transposed(uint32_t (&to)[4], const void* row) {
  const Given& addresses = gather_address(row);
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int m = 0; m < 4; ++m) to[m] = number_of(addresses, m, 2 * t, g) | number_of(addresses, m, 2 * t + 1, g) << 16;
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
