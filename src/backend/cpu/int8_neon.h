#pragma once
#include <arm_neon.h>

#include "backend/cpu/int8.h"

/// int8 kernels for 64-bit ARM, for rows in Int8Form::plain. There are two, which differ in a `Multiply`:
///   add(sum, x, w)  sum + x · w, four products in each lane, exact
/// Contains only templates, each used with one file's own Multiply, so that no other file links code compiled for more
/// than NEON.
namespace dragoman::cpu {

// M rows × 16 columns of the panel, starting at column `from`. The sums stay in registers.
template <class Multiply, int M>
inline void tile_neon(const Int8Panel& p, int64_t row, int64_t from) {
  constexpr int parts = 4;  // of 4 columns
  int32x4_t sums[M][parts];
  for (int m = 0; m < M; ++m)
    for (int i = 0; i < parts; ++i) sums[m][i] = vdupq_n_s32(0);
  for (int64_t q = 0; q < p.quads; ++q) {
    int8x16_t w[parts];
    for (int i = 0; i < parts; ++i) w[i] = vld1q_s8(p.w + q * 256 + from * 4 + i * 16);
    for (int m = 0; m < M; ++m) {
      int32_t quad;
      __builtin_memcpy(&quad, p.x + (row + m) * p.stride + q * 4, sizeof quad);
      const int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(quad));
      for (int i = 0; i < parts; ++i) sums[m][i] = Multiply::add(sums[m][i], x, w[i]);
    }
  }
  const Int8Panel to = p;  // a copy: stores to y could alias p and force it to be reloaded
  const int64_t exist = to.columns - from;
#pragma GCC unroll 8  // otherwise GCC 12 keeps the sums in memory
  for (int m = 0; m < M; ++m) {
    float rest[parts * 4];
    float* const y = to.y + (row + m) * to.y_stride + from;
    float* const out = exist >= parts * 4 ? y : rest;
#pragma GCC unroll 4
    for (int i = 0; i < parts; ++i) {
      const int64_t at = from + i * 4;
      const float32x4_t exact = vmulq_n_f32(vcvtq_f32_s32(sums[m][i]), to.row_scales[row + m]);
      float32x4_t z = vfmaq_f32(vld1q_f32(to.bias + at), exact, vld1q_f32(to.scales + at));
      if (to.relu) z = vmaxq_f32(z, vdupq_n_f32(0));  // NaN stays NaN
      vst1q_f32(out + i * 4, z);
    }
    if (out == rest) __builtin_memcpy(y, rest, sizeof(float) * exist);
  }
}

template <class Multiply, int M>
inline void tile_of_neon(int64_t rows, const Int8Panel& p, int64_t row, int64_t from) {
  if constexpr (M > 0) {
    if (rows == M) return tile_neon<Multiply, M>(p, row, from);
    tile_of_neon<Multiply, M - 1>(rows, p, row, from);
  }
}

/// Rows are divided evenly into tiles.
template <class Multiply>
inline void panel_neon(const Int8Panel& p) {
  constexpr int most_rows = 5;  // 20 sums, 4 parts of w and 5 quads of x occupy 29 of 32 registers
  const int64_t tiles = (p.rows + most_rows - 1) / most_rows;
  for (int64_t from = 0; from < p.columns; from += 16)
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = p.rows * t / tiles;
      tile_of_neon<Multiply, most_rows>(p.rows * (t + 1) / tiles - row, p, row, from);
    }
}

}  // namespace dragoman::cpu
