#pragma once
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {

/// Four adjacent numbers of a row. A thread reads or writes them in one access of 16 bytes if rows allow that.
struct alignas(16) Four {
  float at[4];
};

/// Whether all rows start at multiples of 16 bytes and end there.
inline bool in_fours(const Tensor& x) {
  return !x || (reinterpret_cast<uintptr_t>(x.data()) % 16 == 0 && x.stride() % 4 == 0 && x.cols() % 4 == 0);
}

/// Columns d to d + 3 of a row of D columns, d < D. Beyond D they are 0, and are not stored. `wide`: in_fours.
__device__ inline Four load_four(const float* row, int64_t d, int64_t D, bool wide) {
  if (wide) return *reinterpret_cast<const Four*>(row + d);
  Four f;
  for (int j = 0; j < 4; ++j) f.at[j] = d + j < D ? row[d + j] : 0.f;
  return f;
}
__device__ inline void store_four(float* row, int64_t d, int64_t D, bool wide, const Four& f) {
  if (wide) {
    *reinterpret_cast<Four*>(row + d) = f;
    return;
  }
  for (int j = 0; j < 4; ++j)
    if (d + j < D) row[d + j] = f.at[j];
}
/// The same for a gradient.
__device__ inline void put_four(const Put& put, int64_t n, int64_t d, bool wide, Four f) {
  if (!put) return;
  const int64_t D = put.to.cols;
  if (put.adds) {
    const Four old = load_four(put.to.row(n), d, D, wide);
    for (int j = 0; j < 4; ++j) f.at[j] += old.at[j];
  }
  store_four(put.to.row(n), d, D, wide, f);
}

}  // namespace dragoman::cuda
