// Compiled for AVX-VNNI, AVX2 and FMA and called only where the CPU has them. No standard header: an inline function
// compiled here could become the one that the whole program uses.
#include "backend/cpu/int8_256.h"

namespace dragoman::cpu {
namespace {

// CPUs without AVX-512 may have VNNI's instruction, too, for half of the width.
struct Vnni {
  static constexpr int rows = 6, parts = 2;
  static constexpr bool offset = true;
  using Quad = __m256i;
  static Quad quad(__m256i x) { return x; }
  static __m256i add(__m256i sum, Quad x, __m256i w) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
};

}  // namespace

void int8_avx_vnni(const Int8Panel& p) { panel_256<Vnni>(p); }

}  // namespace dragoman::cpu
