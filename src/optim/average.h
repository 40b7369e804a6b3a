#pragma once
#include <optional>

#include "comm/ownership.h"
#include "optim/frozen.h"

namespace dragoman {

/// Exponential moving average of all parameters, batch-norm statistics included (Marian's --exponential-smoothing):
/// after update t, average += max(weight, 9 / (t + 10)) · (parameter - average), so that early weights fade quickly.
/// The averages of frozen parameters do not change.
class MovingAverage {
 public:
  MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                const std::vector<std::string>& frozen = {});
  /// Keeps only the averages of the owned elements.
  MovingAverage(const Backend& backend, Arena& arena, const Parameters& parameters, double weight,
                const std::vector<std::string>& frozen, const Ownership& ownership);

  /// Restarts: the average becomes the current parameters.
  void restart();
  void update(int64_t step);
  /// Memory for swap().
  Tensor room() const;
  /// Swaps parameters and averages, so that validation and the model file use the smoothed parameters. A second call
  /// swaps them back. All ranks call it together. Needs no memory but `room`.
  void swap(const Tensor& room);
  /// The averages of the owned elements of the flat buffers. Checkpoints save and restore them.
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

/// During the lifetime of this object, the parameters are the smoothed ones, if there is an average. All ranks create
/// and destroy it together.
class Smoothed {
 public:
  explicit Smoothed(std::optional<MovingAverage>& average);
  ~Smoothed();
  Smoothed(const Smoothed&) = delete;

 private:
  std::optional<MovingAverage>& average_;
  const Tensor room_;  // held until the parameters are back, so that lack of memory cannot leave them smoothed
};

}  // namespace dragoman
