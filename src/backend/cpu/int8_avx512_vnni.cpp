// Compiled for AVX-512 VNNI and called only where the CPU has it. No standard header: an inline function compiled here
// could become the one that the whole program uses.
#include "backend/cpu/int8.h"

#include <immintrin.h>

namespace dragoman::cpu {
namespace {

inline __m512i broadcast_quad(const uint8_t* x) {
  int32_t quad;
  __builtin_memcpy(&quad, x, sizeof quad);
  return _mm512_set1_epi32(quad);
}

inline __m512 finished(__m512i sum, __m512i correction, __m512 row_scale, __m512 scale, __m512 bias, bool relu) {
  const __m512 exact = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, correction));
  const __m512 y = _mm512_fmadd_ps(_mm512_mul_ps(exact, row_scale), scale, bias);
  return relu ? _mm512_max_ps(y, _mm512_setzero_ps()) : y;
}

// M rows × 32 columns: 2·M accumulators stay in registers over the whole of K.
template <int M>
inline void tile(const Int8Panel& p, int64_t row) {
  __m512i low[M], high[M];
  for (int m = 0; m < M; ++m) low[m] = high[m] = _mm512_setzero_si512();
  for (int64_t q = 0; q < p.quads; ++q) {
    const __m512i w_low = _mm512_loadu_si512(p.w + q * 128), w_high = _mm512_loadu_si512(p.w + q * 128 + 64);
    for (int m = 0; m < M; ++m) {
      const __m512i x = broadcast_quad(p.x + (row + m) * p.stride + q * 4);
      low[m] = _mm512_dpbusd_epi32(low[m], x, w_low);
      high[m] = _mm512_dpbusd_epi32(high[m], x, w_high);
    }
  }
  const __m512i off_low = _mm512_slli_epi32(_mm512_loadu_si512(p.sums), 7),
                off_high = _mm512_slli_epi32(_mm512_loadu_si512(p.sums + 16), 7);
  const __mmask32 exist = p.columns >= 32 ? 0xffffffffu : (1u << p.columns) - 1;
  for (int m = 0; m < M; ++m) {
    const __m512 row_scale = _mm512_set1_ps(p.row_scales[row + m]);
    float* y = p.y + (row + m) * p.y_stride;
    _mm512_mask_storeu_ps(
        y, __mmask16(exist),
        finished(low[m], off_low, row_scale, _mm512_loadu_ps(p.scales), _mm512_loadu_ps(p.bias), p.relu));
    _mm512_mask_storeu_ps(
        y + 16, __mmask16(exist >> 16),
        finished(high[m], off_high, row_scale, _mm512_loadu_ps(p.scales + 16), _mm512_loadu_ps(p.bias + 16), p.relu));
  }
}

}  // namespace

void int8_avx512_vnni(const Int8Panel& p) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) tile<12>(p, row);
  for (; row + 4 <= p.rows; row += 4) tile<4>(p, row);
  for (; row < p.rows; ++row) tile<1>(p, row);
}

}  // namespace dragoman::cpu
