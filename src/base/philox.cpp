#include "base/philox.h"

#include <cmath>
#include <numbers>

namespace dragoman {

uint32_t PhiloxSequence::next() {
  const uint64_t block = index_ / 4;
  if (index_ % 4 == 0)
    block_ = philox({uint32_t(block), uint32_t(block >> 32), uint32_t(stream_), uint32_t(stream_ >> 32)}, key_);
  return block_[index_++ % 4];
}

uint64_t PhiloxSequence::below(uint64_t n) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
  for (;;) {
    const uint64_t x = uint64_t{next()} << 32 | next();
    if (x < limit) return x % n;
  }
}

double PhiloxSequence::uniform() { return next() * 0x1p-32; }

double PhiloxSequence::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace dragoman
