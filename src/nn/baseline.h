#pragma once

namespace dragoman {

/// The expected loss of a target token: a moving average over updates, which REINFORCE subtracts from the losses that
/// follow a choice (Williams 1992; Xu et al. 2015, section 4.1). The trainer passes it the loss of each update and
/// stores it in the training state.
struct Baseline {
  double value = 0;

  /// The loss of an update, summed over target tokens of this weight.
  void update(double loss, double weight) { value = 0.9 * value + 0.1 * loss / weight; }
};

}  // namespace dragoman
