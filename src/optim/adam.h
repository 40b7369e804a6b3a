#pragma once
#include "backend/optimizer.h"
#include "nn/parameters.h"
#include "optim/frozen.h"
#include "optim/options.h"

namespace dragoman {

/// The learning rate of update 1, 2, …  `dim` is the model's D, which the noam schedule asks for.
double learning_rate(const OptimizerOptions& options, int64_t update, int dim);

/// Adam (Kingma & Ba 2015, algorithm 1) with clipping by the norm of the whole gradient and decoupled weight decay.
/// Two numbers of the parameters' type for each. Frozen parameters stay as they are, and their gradients count nowhere.
class Adam {
 public:
  Adam(const Backend& backend, Arena& arena, Parameters& parameters, const OptimizerOptions& options);

  /// One update from gradients that are sums over `target_tokens`, of losses that add up to `loss` (1) f64. Where that
  /// or a gradient is not finite nothing is changed. That, and how much to clip, is decided where the backend computes.
  void step(double rate, double target_tokens, const Tensor& loss);
  /// How the last step went. Has to be asked for once, before the next step; that is when it is counted, if it changed
  /// anything. Waits for that step, but for nothing that came after it.
  struct Outcome {
    double loss, norm;  // of the mean gradient before clipping
    bool finite() const;
  };
  Outcome outcome();

  /// Moments by parameter name ("first_moment/…", "second_moment/…"), to be saved and filled again.
  struct NamedMoment {
    std::string name;
    Tensor value;
  };
  std::vector<NamedMoment> moments() const;
  /// As before the first update.
  void restart();
  int64_t steps = 0;  // that changed anything, as far as their outcome is known

 private:
  const Backend& backend_;
  Parameters& parameters_;
  const OptimizerOptions options_;
  const Tensor first_moments_, second_moments_;  // flat, as the parameters
  std::vector<AdamTensor> trained_;              // views of what is not frozen
  std::vector<Tensor> gradients_;                // of these
  const Tensor squares_;                         // (1) f64: the sum of theirs
  PendingNumber pending_loss_, pending_squares_;
  double target_tokens_ = 0;
};

}  // namespace dragoman
