#include "train/rate_decay.h"

namespace dragoman {
namespace {

// Whether `count` has reached the start; a start of 0 is never.
bool reached(int64_t start, int64_t count) { return start > 0 && count >= start; }

// Marian decides about validations in a row only when their number grows.
bool stalls(const RateDecayOptions& o, const DecayPoint& before, const DecayPoint& now) {
  const int64_t start = o.decay_start.front();
  return start > 0 && now.stalled > before.stalled && now.stalled % start == 0;
}

bool batch_decays(const RateDecayOptions& o, const DecayPoint& before, const DecayPoint& now) {
  const int64_t start = o.decay_start.front();
  return now.updates > before.updates && reached(start, now.updates) && (now.updates - start) % o.decay_freq == 0;
}

// Whether the rate decays as an epoch, counted from 1, begins.
bool epoch_decays(const RateDecayOptions& o, int64_t epoch, const DecayPoint& now) {
  if (reached(o.decay_start.front(), epoch)) return true;
  if (o.decay_strategy == DecayStrategy::epoch_batches) return reached(o.decay_start.back(), now.updates);
  return o.decay_strategy == DecayStrategy::epoch_stalled && reached(o.decay_start.back(), now.most_stalled);
}

}  // namespace

std::vector<DecayCause> decays_between(const RateDecayOptions& o, const DecayPoint& before, const DecayPoint& now) {
  std::vector<DecayCause> causes;
  if (!o.decays()) return causes;
  if (o.decay_strategy == DecayStrategy::stalled) {
    if (stalls(o, before, now)) causes.push_back(DecayCause::stalled);
  } else if (o.decay_strategy == DecayStrategy::batches) {
    if (batch_decays(o, before, now)) causes.push_back(DecayCause::batches);
  } else {
    for (int64_t ended = before.epochs + 1; ended <= now.epochs; ++ended)
      if (epoch_decays(o, ended + 1, now)) causes.push_back(DecayCause::epoch);
  }
  return causes;
}

}  // namespace dragoman
