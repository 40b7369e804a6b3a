#include "data/shuffle.h"

#include <numeric>

namespace dragoman {

PhiloxSequence shuffle_numbers(uint64_t seed, int64_t epoch, Shuffled what) {
  // The upper half of the stream keeps these sequences apart from all other uses of the seed, which number their
  // streams from 0 on.
  constexpr uint64_t shuffles = 0x73687566;  // "shuf"
  return {seed, (shuffles + uint64_t(what)) << 32 | uint32_t(epoch)};
}

std::vector<int64_t> permutation(int64_t n, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  PhiloxSequence numbers = shuffle_numbers(seed, epoch, Shuffled::pairs);
  shuffle(order, numbers);
  return order;
}

}  // namespace dragoman
