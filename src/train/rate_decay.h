#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/enum_names.h"

namespace dragoman {

/// When the learning rate is multiplied by --lr-decay, as in Marian. The numbers are those of --lr-decay-start.
/// stalled N: after N, 2N, 3N … validations in a row without improvement; batches N: after update N, and every
/// --lr-decay-freq updates from there; epoch N: when epoch N or a later one begins. epoch_batches N M, epoch_stalled N
/// M: when an epoch begins that is N or later, or comes after M updates or after M validations in a row without
/// improvement, however long ago.
enum class DecayStrategy { stalled, epoch, batches, epoch_batches, epoch_stalled };

inline std::span<const EnumName<DecayStrategy>> enum_names(DecayStrategy) {
  static constexpr EnumName<DecayStrategy> names[] = {{DecayStrategy::stalled, "stalled"},
                                                      {DecayStrategy::epoch, "epoch"},
                                                      {DecayStrategy::batches, "batches"},
                                                      {DecayStrategy::epoch_batches, "epoch+batches"},
                                                      {DecayStrategy::epoch_stalled, "epoch+stalled"}};
  return names;
}

/// Decay of the learning rate besides its schedule.
struct RateDecayOptions {
  double rate_decay = 0;  // the factor; 0 or 1: off
  DecayStrategy decay_strategy = DecayStrategy::epoch_stalled;
  std::vector<int64_t> decay_start = {10, 1};  // one number, for the two last strategies two; 0: never
  int64_t decay_freq = 50000;                  // updates; for batches
  bool decay_resets_optimizer = false;         // each decay also resets Adam's moments

  bool decays() const { return rate_decay > 0 && rate_decay < 1; }
  bool has_two_starts() const {
    return decay_strategy == DecayStrategy::epoch_batches || decay_strategy == DecayStrategy::epoch_stalled;
  }
};

/// What decays depend on.
struct DecayPoint {
  int64_t updates = 0;
  int64_t epochs = 0;        // that have ended
  int64_t stalled = 0;       // validations in a row without improvement, …
  int64_t most_stalled = 0;  // … and the most so far
};

enum class DecayCause { stalled, epoch, batches };

/// The causes of the decays on the way from `before` to `now`, an update later: usually none, one for each epoch that
/// has begun.
std::vector<DecayCause> decays_between(const RateDecayOptions& options, const DecayPoint& before,
                                       const DecayPoint& now);

}  // namespace dragoman
