#pragma once
#include <optional>

#include "comm/ownership.h"
#include "optim/frozen.h"

namespace dragoman {

/// Exponential moving average of all parameters, statistics among them (Marian's --exponential-smoothing): after update
/// t, average += max(weight, 9 / (t + 10)) · (parameter - average), so that early weights fade quickly. The averages of
/// frozen parameters stay as they are.
class MovingAverage {
 public:
  MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                const std::vector<std::string>& frozen = {});
  /// Keeps the averages of the owned elements.
  MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                const std::vector<std::string>& frozen, const Ownership& ownership);

  /// Restarts: the average becomes the current parameters.
  void restart();
  void update(int64_t step);
  /// Exchanges parameters and averages: validation and the model file see the smoothed ones. Twice is nothing. All
  /// ranks call it together.
  void swap();
  /// Of the owned elements of flat buffers, to be saved and filled again.
  const Tensor& averages() const { return averages_; }

 private:
  Tensor values(Range elements) const;
  Tensor averages(Range elements) const;

  const Backend& backend_;
  Arena& arena_;
  const Parameters& parameters_;
  const double weight_;
  const Ownership ownership_;
  const Tensor averages_;            // of the owned elements
  const std::vector<Range> moving_;  // elements that are owned and not frozen
};

/// While this lives, the parameters are the smoothed ones, if there is an average. All ranks make one together.
class Smoothed {
 public:
  explicit Smoothed(std::optional<MovingAverage>& average);
  ~Smoothed();
  Smoothed(const Smoothed&) = delete;

 private:
  std::optional<MovingAverage>& average_;
};

}  // namespace dragoman
