#pragma once
#include "backend/optimizer.h"
#include "comm/ownership.h"
#include "nn/parameters.h"
#include "optim/frozen.h"
#include "optim/options.h"

namespace dragoman {

/// The learning rate of update 1, 2, …  `dim` is the model's D, which the noam schedule needs.
double learning_rate(const OptimizerOptions& options, int64_t update, int dim);

/// Adam (Kingma & Ba 2015, algorithm 1) with clipping by the norm of the whole gradient and decoupled weight decay.
/// Keeps two moments per parameter, in the parameters' type. Frozen parameters do not change, and their gradients are
/// left out of the norm. With several ranks, each rank updates the parameters that it owns, keeps only their moments,
/// and then receives the other parameters from their owners.
class Adam {
 public:
  Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options);
  Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options,
       const Ownership& ownership);

  /// One update. Gradients are sums, which are divided by `target_tokens`; `loss` (1) f64 is the sum of the losses.
  /// Changes nothing if the loss or a gradient is not finite. The backend decides that, and how much to clip, on the
  /// device. With several slices, their sums of squares are added in the order of slices.
  void step(double rate, double target_tokens, const Tensor& loss);
  /// The outcome of the last step. Call it exactly once after each step, before the next one: it adds the step to
  /// `steps` if the parameters changed. Waits for that step, but not for kernels called after it.
  struct Outcome {
    double loss, norm;  // of the mean gradient before clipping
    bool finite() const;
  };
  Outcome outcome();

  /// The moments of the owned elements of the flat buffers. Checkpoints save and restore them.
  const Tensor& first_moments() const { return first_moments_; }
  const Tensor& second_moments() const { return second_moments_; }
  /// Returns to the state before the first update.
  void restart();
  int64_t steps = 0;  // steps that changed the parameters, counted by outcome()

 private:
  void sum_squares();

  const Backend& backend_;
  Parameters& parameters_;
  const OptimizerOptions options_;
  const Ownership ownership_;
  const Tensor first_moments_, second_moments_;  // of the owned elements
  std::vector<AdamTensor> trained_;              // views of elements that are owned and not frozen
  std::vector<std::vector<Tensor>> gradients_;   // the gradients of trained_, by slice
  const Tensor squares_;                         // (1) f64: the sum of squares of all gradients
  PendingNumber pending_loss_, pending_squares_;
  double target_tokens_ = 0;
};

}  // namespace dragoman
