#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace dragoman {

/// What is shuffled or drawn; each has its own random sequence.
enum class Shuffled : uint32_t { pairs, batches, chances };

/// The random numbers of an epoch: a function of (seed, epoch, what), the same on every machine.
PhiloxSequence shuffle_numbers(uint64_t seed, int64_t epoch, Shuffled what);

/// Uniform over all orders (Fisher and Yates; Knuth, TAOCP 2, algorithm 3.4.2P). Unlike std::shuffle, its result does
/// not depend on the standard library.
template <class T>
void shuffle(std::vector<T>& items, PhiloxSequence& numbers) {
  for (uint64_t rest = items.size(); rest > 1; --rest) std::swap(items[rest - 1], items[numbers.below(rest)]);
}

/// A uniform number in [0, 1), a function of the arguments: decides whether an epoch uses a pair of weight below 1.
double chance(uint64_t seed, int64_t epoch, int64_t pair);

}  // namespace dragoman
