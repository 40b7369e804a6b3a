#pragma once
#include "optim/frozen.h"

namespace dragoman {

/// Exponential moving average of all parameters, statistics among them (Marian's --exponential-smoothing): after update
/// t, average += max(weight, 9 / (t + 10)) · (parameter - average), so that early weights fade quickly. The averages of
/// frozen parameters stay as they are.
class MovingAverage {
 public:
  MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                const std::vector<std::string>& frozen = {});

  /// Begins anew: the average is the parameters as they are.
  void restart();
  void update(int64_t step);
  /// Exchanges parameters and averages: validation and the model file see the smoothed ones. Twice is nothing.
  void swap();
  /// Parts as files name them.
  Tensor part(const Parameters::Named& p) const { return p.slice_of(parameters_.part_of(averages_, p.buffer)); }

 private:
  const Backend& backend_;
  Arena& arena_;
  const Parameters& parameters_;
  const double weight_;
  const Tensor averages_;  // flat, as the parameters
  const std::vector<TrainedRows> moving_;
};

}  // namespace dragoman
