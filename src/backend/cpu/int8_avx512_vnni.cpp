// Compiled for AVX-512 VNNI, called only if the CPU has it. Includes no standard headers: the linker could choose an
// inline function compiled here for the whole program.
#include "backend/cpu/int8.h"

#include <immintrin.h>

namespace dragoman::cpu {
namespace {

inline __m512i broadcast_quad(const uint8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm512_set1_epi32(quad);
}

// What a tile prefetches while it computes: its share of the next panel (after the last panel, useless but harmless).
// In a large model each panel comes from memory; without prefetching, the first tile would wait for it and memory would
// idle afterwards.
struct Ahead {
  const int8_t* from;
  int64_t step;  // bytes at each quad
};

// M rows × 64 columns: 4·M accumulators stay in registers over all of K. Of all tiles with as many accumulators, this
// one needs the fewest loads.
template <int M>
inline void tile(const Int8Panel& p, int64_t row, const Ahead& next) {
  constexpr int parts = 4;  // of 16 columns
  __m512i sums[M][parts];
  for (int m = 0; m < M; ++m) sums[m][0] = sums[m][1] = sums[m][2] = sums[m][3] = _mm512_setzero_si512();
  for (int64_t q = 0; q < p.quads; ++q) {
    _mm_prefetch(next.from + q * next.step, _MM_HINT_T1);
    const int8_t* const w = p.w + q * parts * 64;
    const __m512i w0 = _mm512_loadu_si512(w), w1 = _mm512_loadu_si512(w + 64), w2 = _mm512_loadu_si512(w + 128),
                  w3 = _mm512_loadu_si512(w + 192);
    for (int m = 0; m < M; ++m) {
      const __m512i x = broadcast_quad(p.x + (row + m) * p.stride + q * 4);
      sums[m][0] = _mm512_dpbusd_epi32(sums[m][0], x, w0);
      sums[m][1] = _mm512_dpbusd_epi32(sums[m][1], x, w1);
      sums[m][2] = _mm512_dpbusd_epi32(sums[m][2], x, w2);
      sums[m][3] = _mm512_dpbusd_epi32(sums[m][3], x, w3);
    }
  }
  const uint64_t exist = p.columns >= 64 ? ~uint64_t{0} : (uint64_t{1} << p.columns) - 1;
  const Int8Panel to = p;  // a copy: stores to y could alias p and force it to be reloaded
#pragma GCC unroll 8       // otherwise GCC 12 keeps the accumulators in memory
  for (int m = 0; m < M; ++m) {
    // `least` comes first in the maximum, so that NaN stays NaN.
    const __m512 row_scale = _mm512_set1_ps(to.row_scales[row + m]),
                 least = _mm512_set1_ps(to.relu ? 0 : -__builtin_inff());
    float* const y = to.y + (row + m) * to.y_stride;
#pragma GCC unroll 4
    for (int i = 0; i < parts; ++i) {
      const int at = i * 16;
      const __m512i sum = _mm512_sub_epi32(sums[m][i], _mm512_slli_epi32(_mm512_loadu_si512(to.sums + at), 7));
      const __m512 exact = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), row_scale);
      const __m512 z = _mm512_fmadd_ps(exact, _mm512_loadu_ps(to.scales + at), _mm512_loadu_ps(to.bias + at));
      _mm512_mask_storeu_ps(y + at, __mmask16(exist >> at), _mm512_max_ps(least, z));
    }
  }
}

template <int M>
inline void tile_of(int64_t rows, const Int8Panel& p, int64_t row, const Ahead& next) {
  if constexpr (M > 0) {
    if (rows == M) return tile<M>(p, row, next);
    tile_of<M - 1>(rows, p, row, next);
  }
}

}  // namespace

// Rows are divided evenly: a tile of few rows waits for its own sums and takes as long as one of three.
void int8_avx512_vnni(const Int8Panel& p) {
  constexpr int most = 6;
  const int64_t tiles = (p.rows + most - 1) / most;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t row = p.rows * t / tiles;
    const Ahead next = {p.w + p.quads * 256 * (tiles + t) / tiles, (256 + tiles - 1) / tiles};
    tile_of<most>(p.rows * (t + 1) / tiles - row, p, row, next);
  }
}

}  // namespace dragoman::cpu
