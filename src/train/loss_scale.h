#pragma once
#include <algorithm>
#include <cstdint>

namespace dragoman {

/// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2). float16 has no small numbers, so in training with it
/// losses, and with them all gradients, are multiplied by a power of two, which the optimiser takes back: one that
/// halves when a gradient has become too large for float16, and doubles when none has for long.
struct LossScale {
  static constexpr double first = 128, least = 1.0 / 16;
  static constexpr int64_t patience = 2000;  // updates

  double value = 1;
  int64_t since = 0;  // updates that went well with this value

  void went_well() {
    if (++since < patience) return;
    value *= 2;
    since = 0;
  }
  /// Whether a lower one is left that the update's successors may do better with.
  bool lower() {
    if (value <= least) return false;
    value /= 2;
    since = 0;
    return true;
  }
};

}  // namespace dragoman
