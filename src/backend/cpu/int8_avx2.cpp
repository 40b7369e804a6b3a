// Compiled for AVX2 and FMA, called only if the CPU has them. Includes no standard headers: the linker could choose an
// inline function compiled here for the whole program.
#include "backend/cpu/int8_256.h"

namespace dragoman::cpu {
namespace {

// The instruction multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating. So x · w is computed as
// |x| · (w with the sign of x): no pair exceeds 2 · 127 · 128 = 32,512, which fits 16 bits. Where x is negative, all
// bits of w are inverted, which gives -w - 1 instead of -w: the sum lacks |x| for each such w, which is added at the
// end. The instruction that changes signs exactly would occupy the two multiplier ports. A tile is a row of the whole
// panel, so x is prepared once for all columns.
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
