#pragma once
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

  /// One update from gradients that are sums over `labels`. Returns the norm of the mean gradient before clipping.
  /// When it is not finite nothing is changed and nothing counted.
  double step(double rate, double labels);

  /// Moments by parameter name ("first_moment/…", "second_moment/…"), to be saved and filled again.
  struct NamedMoment {
    std::string name;
    Tensor value;
  };
  std::vector<NamedMoment> moments() const;
  /// As before the first update.
  void restart();
  int64_t steps = 0;  // updates made

 private:
  const Backend& backend_;
  Parameters& parameters_;
  const OptimizerOptions options_;
  std::vector<Tensor> first_moments_, second_moments_;  // one each a parameter buffer, empty of statistics
  std::vector<AdamTensor> trained_;                     // views of what is not frozen
  std::vector<Tensor> gradients_;                       // of these
};

}  // namespace dragoman
