#include "backend/cuda/matrix_units.cuh"

#include <cuda_runtime.h>

#include <bit>

#include "base/error.h"
#include "tensor/float16.h"

namespace dragoman::cuda {
namespace {

using cuda_on_host::Given;

/// Element (row, column) of a, and (row, column) of b, from the words a0 to a3, b0 and b1 of the lanes that hold them:
/// in lane (g, t), a0 is in row g and a1 in g + 8, a2 and a3 likewise in the second half of the columns; b0 and b1 are
/// in column g, in the first and second half of the rows. A word holds `packed` adjacent numbers, so t counts words.
template <int packed, class F>
float a_at(const Given& words, int row, int column, const F& part) {
  const int in_half = column % (4 * packed), word = row / 8 + column / (4 * packed) * 2;
  return part(words[row % 8 * 4 + in_half / packed][word], in_half % packed);
}
template <int packed, class F>
float b_at(const Given& words, int row, int column, const F& part) {
  const int in_half = row % (4 * packed), word = 4 + row / (4 * packed);
  return part(words[column * 4 + in_half / packed][word], in_half % packed);
}

template <int packed, class F>
void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const F& part) {
  const Given& words = cuda_on_host::gather({a[0], a[1], a[2], a[3], b[0], b[1]});
  const int lane = int(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int e = 0; e < 4; ++e) {
    const int row = g + e / 2 * 8, column = 2 * t + e % 2;
    for (int k = 0; k < 8 * packed; ++k)
      c[e] += a_at<packed>(words, row, k, part) * b_at<packed>(words, k, column, part);
  }
}

/// Number `column` of row `row` of matrix m, whose rows' addresses are in the first two words of eight lanes.
uint32_t number_of(const Given& addresses, int m, int row, int column) {
  const uint32_t(&words)[cuda_on_host::words_given] = addresses[8 * m + row];
  const uintptr_t address = words[0] | uintptr_t{words[1]} << 32;
  invariant(address % 16 == 0, "rows of matrices are aligned");
  return reinterpret_cast<const uint16_t*>(address)[column];
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
