#pragma once
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {

/// Four adjacent numbers of a row.
template <class T>
struct alignas(4 * sizeof(T)) FourOf {
  T at[4];
};
using Four = FourOf<float>;

/// Whether a thread can read or write four numbers from column 0, 4, … on in one access, of 16 bytes or 8.
__host__ __device__ inline bool in_fours(const Row& x) {
  const size_t bytes = 4 * (x.type == DType::f32 ? sizeof(float) : sizeof(uint16_t));
  return reinterpret_cast<uintptr_t>(x.data) % bytes == 0;
}
/// The same of each row.
inline bool in_fours(const Values& x) { return in_fours(Row{x.data, x.type}) && (x.stride % 4 == 0 || x.rows <= 1); }

/// Columns d to d + 3 of a row of D columns, d < D. Beyond D they are 0, and are not stored. `wide`: in_fours.
template <class T>
__device__ FourOf<std::remove_const_t<T>> load_four(T* row, int64_t d, int64_t D, bool wide) {
  using Loaded = FourOf<std::remove_const_t<T>>;
  if (wide && d + 4 <= D) return *reinterpret_cast<const Loaded*>(row + d);
  Loaded f;
  for (int j = 0; j < 4; ++j) f.at[j] = d + j < D ? row[d + j] : T{};
  return f;
}
template <class T>
__device__ void store_four(T* row, int64_t d, int64_t D, bool wide, const FourOf<T>& f) {
  if (wide && d + 4 <= D) {
    *reinterpret_cast<FourOf<T>*>(row + d) = f;
    return;
  }
  for (int j = 0; j < 4; ++j)
    if (d + j < D) row[d + j] = f.at[j];
}
/// Four numbers as they are stored: f32, or of a 16-bit type in the first two words. Reading several before any is
/// widened lets the reads overlap.
struct alignas(16) StoredFour {
  uint32_t words[4] = {};

  __device__ Four widened(DType type) const {
    Four f;
    for (int j = 0; j < 4; ++j)
      f.at[j] =
          type == DType::f32 ? std::bit_cast<float>(words[j]) : of_half(uint16_t(words[j / 2] >> 16 * (j % 2)), type);
    return f;
  }
};
__device__ inline StoredFour load_stored(const Row& row, int64_t d, int64_t D, bool wide) {
  StoredFour f;
  if (row.type == DType::f32) {
    const auto four = load_four(static_cast<const uint32_t*>(row.data), d, D, wide);
    for (int j = 0; j < 4; ++j) f.words[j] = four.at[j];
  } else if (wide && d + 4 <= D) {
    const auto two = *reinterpret_cast<const uint64_t*>(static_cast<const uint16_t*>(row.data) + d);
    f.words[0] = uint32_t(two), f.words[1] = uint32_t(two >> 32);
  } else {
    const auto four = load_four(static_cast<const uint16_t*>(row.data), d, D, false);
    for (int j = 0; j < 4; j += 2) f.words[j / 2] = four.at[j] | uint32_t{four.at[j + 1]} << 16;
  }
  return f;
}
__device__ inline StoredFour load_stored(const Values& x, int64_t n, int64_t d, bool wide) {
  return load_stored(x.row(n, 0), d, x.cols, wide);
}

/// Four numbers of a row whose type is a field.
__device__ inline Four load_four(const Row& row, int64_t d, int64_t D, bool wide) {
  return load_stored(row, d, D, wide).widened(row.type);
}
__device__ inline Four load_four(const Values& x, int64_t n, int64_t d, bool wide) {
  return load_four(x.row(n, 0), d, x.cols, wide);
}
__device__ inline void store_four(const Values& x, int64_t n, int64_t d, bool wide, const Four& f) {
  if (x.type == DType::f32) return store_four(x.at<float>(n, 0), d, x.cols, wide, f);
  FourOf<uint16_t> bits;
  for (int j = 0; j < 4; j += 2) {
    const uint32_t two = two_halves(f.at[j], f.at[j + 1], x.type);
    bits.at[j] = uint16_t(two), bits.at[j + 1] = uint16_t(two >> 16);
  }
  store_four(x.at<uint16_t>(n, 0), d, x.cols, wide, bits);
}
/// The same for a gradient.
__device__ inline void put_four(const Put& put, int64_t n, int64_t d, bool wide, Four f) {
  if (!put) return;
  if (put.adds) {
    const Four old = load_four(put.to, n, d, wide);
    for (int j = 0; j < 4; ++j) f.at[j] += old.at[j];
  }
  store_four(put.to, n, d, wide, f);
}

/// Calls f(row, column) on the device for every fourth column of a matrix.
template <class F>
void each_four(int64_t rows, int64_t cols, F f) {
  each_element(rows, (cols + 3) / 4, [=] __device__(int64_t n, int64_t quarter) { f(n, 4 * quarter); });
}

}  // namespace dragoman::cuda
