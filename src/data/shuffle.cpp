#include "data/shuffle.h"

namespace dragoman {

PhiloxSequence shuffle_numbers(uint64_t seed, int64_t epoch, Shuffled what) {
  // The upper half of the stream keeps these sequences apart from all other uses of the seed, which number their
  // streams from 0 on.
  constexpr uint64_t shuffles = 0x73687566;  // "shuf"
  return {seed, (shuffles + uint64_t(what)) << 32 | uint32_t(epoch)};
}

}  // namespace dragoman
