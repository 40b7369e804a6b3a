#pragma once
#include <bit>

#include "backend/cuda/values.cuh"

/// Adjacent numbers of a row in registers, 16-bit ones two to a word.
namespace dragoman::cuda {

template <class T>
struct Neighbours {
  uint32_t bits;

  Neighbours() = default;
  __device__ Neighbours(T x, T y) : bits(x.bits | uint32_t{y.bits} << 16) {}
  __device__ Neighbours(float x, float y) : bits(two_halves(x, y, dtype_of<T>())) {}
  __device__ float first() const { return widened(std::bit_cast<T>(uint16_t(bits))); }
  __device__ float second() const {
    if constexpr (std::is_same_v<T, bfloat16>) return std::bit_cast<float>(bits & 0xffff0000);  // one instruction
    return widened(std::bit_cast<T>(uint16_t(bits >> 16)));
  }
};
template <>
struct Neighbours<float> {
  float x, y;

  __device__ float first() const { return x; }
  __device__ float second() const { return y; }
};

/// n adjacent numbers, read and written in accesses of up to 16 bytes.
template <class T, int n>
struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Adjacent {
  Neighbours<T> pairs[n / 2];
};

template <class T, int n>
__device__ Adjacent<T, n> rounded(const Adjacent<float, n>& x) {
  Adjacent<T, n> y;
  for (int p = 0; p < n / 2; ++p) y.pairs[p] = {x.pairs[p].x, x.pairs[p].y};
  return y;
}

}  // namespace dragoman::cuda
