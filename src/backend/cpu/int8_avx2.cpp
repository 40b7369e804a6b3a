// Compiled for AVX2 and FMA and called only where the CPU has them. No standard header: an inline function compiled
// here could become the one that the whole program uses.
#include "backend/cpu/int8_256.h"

namespace dragoman::cpu {
namespace {

// The instruction multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating. So x · w is computed as
// |x| · (w with the sign of x): no pair exceeds 2 · 127 · 127 = 32,258, which 16 bits hold.
struct SignsMoved {
  static constexpr int rows = 2, parts = 4;
  static constexpr bool offset = false;
  struct Quad {
    __m256i x, size;
  };
  static Quad quad(__m256i x) { return {x, _mm256_abs_epi8(x)}; }
  static __m256i add(__m256i sum, const Quad& x, __m256i w) {
    const __m256i pairs = _mm256_maddubs_epi16(x.size, _mm256_sign_epi8(w, x.x));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace

void int8_avx2(const Int8Panel& p) { panel_256<SignsMoved>(p); }

}  // namespace dragoman::cpu
