#pragma once
#include <immintrin.h>

#include "backend/cpu/int8.h"

/// int8 kernels with vectors of 256 bits. Two instruction sets have one; they differ in a `Multiply`:
///   rows, parts       maximum size of a tile: rows, and parts of 8 columns; its sums then stay in registers
///   rest(p, row, at)  the final addend to the sums of eight columns
///   Quad, quad(x, n)  four numbers of x in each lane, as add() expects them; a row has n
///   add(sum, x, w)    sum + x · w, four products in each lane, exact
/// Only for files compiled for AVX2. Contains only templates, each used with one file's own Multiply, and
/// always-inlined functions, so that no other file links code compiled for more than AVX2.
namespace dragoman::cpu {

[[gnu::always_inline]] inline __m256i broadcast_quad(const uint8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm256_set1_epi32(quad);
}

// M rows × some columns of the panel, starting at column `from`. With many rows, y is not in a near cache: its lines
// are prefetched while the sums are computed.
template <class Multiply, int M>
inline void tile_256(const Int8Panel& p, int64_t row, int64_t from) {
  constexpr int parts = Multiply::parts;
  for (int m = 0; m < M; ++m)
    for (int i = 0; i < parts; i += 2) __builtin_prefetch(p.y + (row + m) * p.y_stride + from + i * 8, 1);
  __m256i sums[M][parts];
  for (int m = 0; m < M; ++m)
    for (int i = 0; i < parts; ++i) sums[m][i] = _mm256_setzero_si256();
  for (int64_t q = 0; q < p.quads; ++q) {
    __m256i w[parts];
    for (int i = 0; i < parts; ++i)
      w[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.w + q * 256 + from * 4 + i * 32));
    for (int m = 0; m < M; ++m) {
      const auto x = Multiply::quad(p.x + (row + m) * p.stride + q * 4, p.quads * 4);
      for (int i = 0; i < parts; ++i) sums[m][i] = Multiply::add(sums[m][i], x, w[i]);
    }
  }
  const Int8Panel to = p;  // a copy: stores to y could alias p and force it to be reloaded
  const int64_t exist = to.columns - from;
#pragma GCC unroll 8  // otherwise GCC 12 keeps the accumulators in memory
  for (int m = 0; m < M; ++m) {
    // `least` comes first in the maximum, so that NaN stays NaN.
    const __m256 row_scale = _mm256_set1_ps(to.row_scales[row + m]),
                 least = _mm256_set1_ps(to.relu ? 0 : -__builtin_inff());
    alignas(32) float rest[parts * 8];
    float* const y = to.y + (row + m) * to.y_stride + from;
    float* const out = exist >= parts * 8 ? y : rest;
#pragma GCC unroll 4
    for (int i = 0; i < parts; ++i) {
      const int64_t at = from + i * 8;
      const __m256i sum = _mm256_add_epi32(sums[m][i], Multiply::rest(to, row + m, at));
      const __m256 exact = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), row_scale);
      const __m256 z = _mm256_fmadd_ps(exact, _mm256_loadu_ps(to.scales + at), _mm256_loadu_ps(to.bias + at));
      _mm256_storeu_ps(out + i * 8, _mm256_max_ps(least, z));
    }
    if (out == rest) __builtin_memcpy(y, rest, sizeof(float) * exist);
  }
}

template <class Multiply, int M>
inline void tile_of_256(int64_t rows, const Int8Panel& p, int64_t row, int64_t from) {
  if constexpr (M > 0) {
    if (rows == M) return tile_256<Multiply, M>(p, row, from);
    tile_of_256<Multiply, M - 1>(rows, p, row, from);
  }
}

/// Rows are divided evenly into tiles.
template <class Multiply>
inline void panel_256(const Int8Panel& p) {
  const int64_t tiles = (p.rows + Multiply::rows - 1) / Multiply::rows;
  for (int64_t from = 0; from < p.columns; from += Multiply::parts * 8)
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = p.rows * t / tiles;
      tile_of_256<Multiply, Multiply::rows>(p.rows * (t + 1) / tiles - row, p, row, from);
    }
}

}  // namespace dragoman::cpu
