// Compiled for the dot product of ARMv8.2, called only if the CPU has it. Includes no standard headers: the linker
// could choose an inline function compiled here for the whole program.
#include "backend/cpu/int8_neon.h"

namespace dragoman::cpu {
namespace {

struct Dot {
  static int32x4_t add(int32x4_t sum, int8x16_t x, int8x16_t w) { return vdotq_s32(sum, x, w); }
};

}  // namespace

void int8_neon_dot(const Int8Panel& p) { panel_neon<Dot>(p); }

}  // namespace dragoman::cpu
