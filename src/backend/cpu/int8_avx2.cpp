// Compiled for AVX2 and FMA and called only where the CPU has them. No standard header: an inline function compiled
// here could become the one that the whole program uses.
#include "backend/cpu/int8_256.h"

namespace dragoman::cpu {
namespace {

// The instruction multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating. So x · w is computed as
// |x| · (w with the sign of x): no pair exceeds 2 · 127 · 128 = 32,512, which 16 bits hold. Where x is negative, all
// bits of w are turned, which gives -w - 1 in place of -w: for every w |x| too little, which is added in the end. An
// instruction changes signs exactly, but goes through the two units that multiply.
// A tile is a row of the whole panel: what is done to x serves all columns.
struct SignsMoved {
  static constexpr int rows = 1, parts = 8;
  struct Quad {
    __m256i size, turn;
  };
  static Quad quad(const uint8_t* x, int64_t n) { return {broadcast_quad(x), broadcast_quad(x + n)}; }
  static __m256i add(__m256i sum, const Quad& x, __m256i w) {
    const __m256i pairs = _mm256_maddubs_epi16(x.size, _mm256_xor_si256(w, x.turn));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static __m256i rest(const Int8Panel& p, int64_t row, int64_t) { return _mm256_set1_epi32(p.below[row]); }
};

}  // namespace

void int8_avx2(const Int8Panel& p) { panel_256<SignsMoved>(p); }

}  // namespace dragoman::cpu
