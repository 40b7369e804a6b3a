#include "backend/cpu/int8_neon.h"

namespace dragoman::cpu {
namespace {

// Without the dot product. Two products of a lane add up to at most 2 · 127 · 128 = 32,512, which fits 16 bits.
struct Widened {
  static int32x4_t add(int32x4_t sum, int8x16_t x, int8x16_t w) {
    const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w)), high = vmull_high_s8(x, w);
    return vpadalq_s16(sum, vpaddq_s16(low, high));
  }
};

}  // namespace

void int8_neon(const Int8Panel& p) { panel_neon<Widened>(p); }

}  // namespace dragoman::cpu
