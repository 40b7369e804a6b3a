#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/adam.h"

namespace dragoman {
namespace {

// How far the update is from the end of warm-up (0) to `decay_updates` (1).
double progress(const OptimizerOptions& o, double update) {
  const double from = double(o.warmup), to = double(o.decay_updates);
  return to > from ? std::clamp((update - from) / (to - from), 0.0, 1.0) : 1.0;
}

}  // namespace

double learning_rate(const OptimizerOptions& o, int64_t update, int dim) {
  const auto t = double(update), warmup = double(o.warmup);
  if (o.schedule == Schedule::noam)  // Vaswani et al. 2017, eq. 3
    return o.learn_rate / std::sqrt(double(dim)) *
           std::min(1 / std::sqrt(t), warmup > 0 ? t * std::pow(warmup, -1.5) : 1 / std::sqrt(t));
  const double warm = warmup > 0 ? std::min(1.0, t / warmup) : 1.0;
  const double warmed = o.learn_rate * warm + o.warmup_start * (1 - warm);
  switch (o.schedule) {
    case Schedule::inverse_sqrt: {
      const double from = double(o.decay_from > 0 ? o.decay_from : o.warmup);
      return warmed * (from > 0 && t > from ? std::sqrt(from / t) : 1.0);
    }
    case Schedule::cosine:
      return warmed * (t <= warmup ? 1 : (1 + std::cos(std::numbers::pi * progress(o, t))) / 2);
    case Schedule::linear:
      return warmed * (t <= warmup ? 1 : 1 - progress(o, t));
    default:
      return warmed;
  }
}

}  // namespace dragoman
