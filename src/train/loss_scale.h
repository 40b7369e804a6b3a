#pragma once
#include <algorithm>
#include <cstdint>

#include "train/options.h"

namespace dragoman {

/// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2). Small gradients underflow in float16. So losses, and
/// thereby all gradients, are multiplied by a power of two, and the optimizer divides by it. The scale halves when a
/// gradient overflows, and doubles after many updates without overflow.
struct LossScale {
  static constexpr double first = 128, least = 1.0 / 16;
  static constexpr int64_t patience = 2000;  // updates

  double value = 1;
  int64_t since = 0;  // successful updates with this value

  /// At the beginning of training in this precision.
  static LossScale at_first(TrainingPrecision precision) {
    return {precision == TrainingPrecision::float16 ? first : 1};
  }

  void went_well() {
    if (++since < patience) return;
    value *= 2;
    since = 0;
  }
  /// Halves the scale after an overflow. False if it is already the lowest.
  bool lower() {
    if (value <= least) return false;
    value /= 2;
    since = 0;
    return true;
  }
};

}  // namespace dragoman
