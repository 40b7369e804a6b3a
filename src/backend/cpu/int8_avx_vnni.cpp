// Compiled for AVX-VNNI, AVX2 and FMA, called only if the CPU has them. Includes no standard headers: the linker could
// choose an inline function compiled here for the whole program.
#include "backend/cpu/int8_256.h"

namespace dragoman::cpu {
namespace {

// CPUs without AVX-512 may also have the VNNI instruction, at half the width.
struct Vnni {
  static constexpr int rows = 6, parts = 2;
  using Quad = __m256i;
  static Quad quad(const uint8_t* x, int64_t) { return broadcast_quad(x); }
  static __m256i add(__m256i sum, Quad x, __m256i w) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
  static __m256i rest(const Int8Panel& p, int64_t, int64_t at) {
    const __m256i of_w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.sums + at));
    return _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(of_w, 7));
  }
};

}  // namespace

void int8_avx_vnni(const Int8Panel& p) { panel_256<Vnni>(p); }

}  // namespace dragoman::cpu
