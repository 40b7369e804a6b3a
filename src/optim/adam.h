#pragma once
#include "backend/optimizer.h"
#include "comm/ownership.h"
#include "nn/parameters.h"
#include "optim/frozen.h"
#include "optim/options.h"

namespace dragoman {

/// The learning rate of update 1, 2, …  `dim` is the model's D, which the noam schedule asks for.
double learning_rate(const OptimizerOptions& options, int64_t update, int dim);

/// Adam (Kingma & Ba 2015, algorithm 1) with clipping by the norm of the whole gradient and decoupled weight decay.
/// Two numbers of the parameters' type for each. Frozen parameters stay as they are, and their gradients count nowhere.
/// Where several processes train together, each updates the elements that it owns, keeps the moments of these alone,
/// and then has the other ranks' elements of the parameters from them.
class Adam {
 public:
  Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options);
  Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options,
       const Ownership& ownership);

  /// One update from gradients that are sums over `target_tokens`, of losses that add up to `loss` (1) f64. Where that
  /// or a gradient is not finite nothing is changed. That, and how much to clip, is decided where the backend computes;
  /// with several slices it is the sum of their squares in order.
  void step(double rate, double target_tokens, const Tensor& loss);
  /// How the last step went. Has to be asked for once, before the next step; that is when it is counted, if it changed
  /// anything. Waits for that step, but for nothing that came after it.
  struct Outcome {
    double loss, norm;  // of the mean gradient before clipping
    bool finite() const;
  };
  Outcome outcome();

  /// Of the owned elements of flat buffers, to be saved and filled again.
  const Tensor& first_moments() const { return first_moments_; }
  const Tensor& second_moments() const { return second_moments_; }
  /// As before the first update.
  void restart();
  int64_t steps = 0;  // that changed anything, as far as their outcome is known

 private:
  void sum_squares();

  const Backend& backend_;
  Parameters& parameters_;
  const OptimizerOptions options_;
  const Ownership ownership_;
  const Tensor first_moments_, second_moments_;  // of the owned elements
  std::vector<AdamTensor> trained_;              // views of what is owned and not frozen
  std::vector<std::vector<Tensor>> gradients_;   // of these, by slice
  const Tensor squares_;                         // (1) f64: the sum of the squares of all
  PendingNumber pending_loss_, pending_squares_;
  double target_tokens_ = 0;
};

}  // namespace dragoman
