#include "data/shuffle.h"

namespace dragoman {

namespace {

// The upper half of a stream keeps these sequences apart from all other uses of the seed, which number their streams
// from 0 on.
uint32_t upper_half(Shuffled what) {
  constexpr uint32_t shuffles = 0x73687566;  // "shuf"
  return shuffles + uint32_t(what);
}

}  // namespace

PhiloxSequence shuffle_numbers(uint64_t seed, int64_t epoch, Shuffled what) {
  return {seed, uint64_t{upper_half(what)} << 32 | uint32_t(epoch)};
}

double chance(uint64_t seed, int64_t epoch, int64_t pair) {
  const PhiloxCounter counter = {uint32_t(pair), uint32_t(pair >> 32), uint32_t(epoch), upper_half(Shuffled::chances)};
  return double(philox(counter, {uint32_t(seed), uint32_t(seed >> 32)})[0]) / 0x1p32;
}

}  // namespace dragoman
