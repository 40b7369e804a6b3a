// Compiled for AVX2 and FMA and called only where the CPU has them. No standard header: an inline function compiled
// here could become the one that the whole program uses.
#include "backend/cpu/int8.h"

#include <immintrin.h>

namespace dragoman::cpu {
namespace {

inline __m256i broadcast_quad(const uint8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm256_set1_epi32(quad);
}

// M rows × 32 columns, a half of the panel, from column `from` on. The instruction multiplies unsigned by signed bytes
// and adds pairs in 16 bits, saturating. So x · w is computed as |x| · (w with the sign of x): no pair exceeds 2 · 127
// · 127 = 32,258, which 16 bits hold.
template <int M>
inline void tile(const Int8Panel& p, int64_t row, int64_t from) {
  constexpr int parts = 4;  // of 8 columns
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[M][parts];
  for (int m = 0; m < M; ++m)
    for (int i = 0; i < parts; ++i) sums[m][i] = _mm256_setzero_si256();
  for (int64_t q = 0; q < p.quads; ++q) {
    __m256i x[M], size[M];
    for (int m = 0; m < M; ++m) {
      x[m] = broadcast_quad(p.x + (row + m) * p.stride + q * 4);
      size[m] = _mm256_abs_epi8(x[m]);
    }
    for (int i = 0; i < parts; ++i) {
      const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.w + q * 256 + from * 4 + i * 32));
      for (int m = 0; m < M; ++m) {
        const __m256i pairs = _mm256_maddubs_epi16(size[m], _mm256_sign_epi8(w, x[m]));
        sums[m][i] = _mm256_add_epi32(sums[m][i], _mm256_madd_epi16(pairs, ones));
      }
    }
  }
  const Int8Panel to = p;  // else each store to y, of a type that may be anything, has p read again
  const int64_t exist = to.columns - from;
#pragma GCC unroll 2  // else GCC 12 keeps the accumulators in memory
  for (int m = 0; m < M; ++m) {
    // `least` comes first in the maximum: then what is no number stays none.
    const __m256 row_scale = _mm256_set1_ps(to.row_scales[row + m]),
                 least = _mm256_set1_ps(to.relu ? 0 : -__builtin_inff());
    alignas(32) float rest[parts * 8];
    float* const y = to.y + (row + m) * to.y_stride + from;
    float* const out = exist >= parts * 8 ? y : rest;
#pragma GCC unroll 4
    for (int i = 0; i < parts; ++i) {
      const __m256 exact = _mm256_mul_ps(_mm256_cvtepi32_ps(sums[m][i]), row_scale);
      const __m256 z =
          _mm256_fmadd_ps(exact, _mm256_loadu_ps(to.scales + from + i * 8), _mm256_loadu_ps(to.bias + from + i * 8));
      _mm256_storeu_ps(out + i * 8, _mm256_max_ps(least, z));
    }
    if (out == rest) __builtin_memcpy(y, rest, sizeof(float) * exist);
  }
}

}  // namespace

void int8_avx2(const Int8Panel& p) {
  for (int64_t from = 0; from < p.columns; from += 32) {
    int64_t row = 0;
    for (; row + 2 <= p.rows; row += 2) tile<2>(p, row, from);
    for (; row < p.rows; ++row) tile<1>(p, row, from);
  }
}

}  // namespace dragoman::cpu
