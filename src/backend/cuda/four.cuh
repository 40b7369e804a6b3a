#pragma once
#include <algorithm>
#include <initializer_list>

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
    const auto each = [&](const auto& number) {
      for (int j = 0; j < 4; ++j) f.at[j] = number(j);
    };
    const auto half = [&](int j) { return uint16_t(words[j / 2] >> 16 * (j % 2)); };
    if (type == DType::f32)
      each([&](int j) { return std::bit_cast<float>(words[j]); });
    else if (type == DType::bf16)
      each([&](int j) { return of_half(half(j), DType::bf16); });
    else
      each([&](int j) { return of_half(half(j), DType::f16); });
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

/// Stands for the type T of numbers in a kernel that looks at their types, and at `wide`, when it runs. A kernel that
/// is compiled for T takes a fraction of the instructions, but needs rows in fours and a multiple of four columns.
struct Unknown {};
/// The same where rows are in fours and have a multiple of four columns, and only the type is unknown.
struct InFours {};
template <class T>
constexpr bool known = !std::is_same_v<T, Unknown>;
/// U where T is known.
template <class U, class T>
using IfKnown = std::conditional_t<known<T>, U, Unknown>;

/// x as a kernel for T knows it, which handles four numbers from column d on.
template <class T>
__device__ Values known_as(Values x, int64_t d) {
  if constexpr (known<T>) x.cols = d + 4;
  if constexpr (known<T> && !std::is_same_v<T, InFours>) x.type = dtype_of<T>();
  return x;
}
/// Whether all of these, as far as they are not empty, are of this type.
inline bool all_are(DType type, std::initializer_list<Values> all) {
  return std::ranges::all_of(all, [&](const Values& x) { return !x || x.type == type; });
}

template <class T = Unknown>
__device__ StoredFour load_stored(const Values& x, int64_t n, int64_t d, bool wide) {
  const Values row = known_as<T>(x, d);
  return load_stored(row.row(n, 0), d, row.cols, known<T> || wide);
}

/// Four numbers of a row whose type is a field.
__device__ inline Four load_four(const Row& row, int64_t d, int64_t D, bool wide) {
  return load_stored(row, d, D, wide).widened(row.type);
}
template <class T = Unknown>
__device__ Four widened(const StoredFour& four, const Values& x) {
  return four.widened(known_as<T>(x, 0).type);
}
template <class T = Unknown>
__device__ Four load_four(const Values& x, int64_t n, int64_t d, bool wide) {
  return widened<T>(load_stored<T>(x, n, d, wide), x);
}
template <class T = Unknown>
__device__ void store_four(const Values& x, int64_t n, int64_t d, bool wide, const Four& f) {
  const Values to = known_as<T>(x, d);
  wide = known<T> || wide;
  if (to.type == DType::f32) return store_four(to.at<float>(n, 0), d, to.cols, wide, f);
  const auto two = [&](int j) { return uint64_t{two_halves(f.at[j], f.at[j + 1], to.type)}; };
  const uint64_t bits = two(0) | two(2) << 32;
  if (wide && d + 4 <= to.cols)
    *reinterpret_cast<uint64_t*>(to.at<uint16_t>(n, d)) = bits;
  else
    store_four(to.at<uint16_t>(n, 0), d, to.cols, false, std::bit_cast<FourOf<uint16_t>>(bits));
}
/// The same for a gradient.
template <class T = Unknown>
__device__ void put_four(const Put& put, int64_t n, int64_t d, bool wide, Four f) {
  if (!put) return;
  if (put.adds) {
    const Four old = load_four<T>(put.to, n, d, wide);
    for (int j = 0; j < 4; ++j) f.at[j] += old.at[j];
  }
  store_four<T>(put.to, n, d, wide, f);
}

/// Calls f(row, column) on the device for every fourth column of a matrix.
template <class F>
void each_four(int64_t rows, int64_t cols, F f) {
  each_element(rows, (cols + 3) / 4, [=] __device__(int64_t n, int64_t quarter) { f(n, 4 * quarter); });
}

}  // namespace dragoman::cuda
