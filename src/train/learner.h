#pragma once
#include <algorithm>
#include <limits>
#include <string>

#include "base/threads.h"
#include "model/model.h"
#include "train/setup.h"

namespace dragoman {

/// How many tokens of a side go forward and back together: 512 for each thread, and 1,024 at least. What a batch leaves
/// behind for its way back then stays near the processor and needs little memory, whatever the size of batches; more
/// rows would make no product faster. A GPU takes a batch whole.
inline int64_t rows_at_once(const Backend& backend) {
  if (backend.memory) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(1024, int64_t{512} * thread_count());
}

/// Teaches a model batches: forward and back, in parts of `rows_at_once` tokens, in the precision that the setup wants.
/// The references must outlive it.
class Learner {
 public:
  Learner(const Backend& backend, Arena& arena, Model& model, const TrainingSetup& setup, int64_t rows_at_once)
      : backend_(backend), arena_(arena), model_(model), setup_(setup), rows_at_once_(rows_at_once) {}

  /// Before the batches of an update: gradients begin anew, and weights may have changed. `usual_loss` is what hard
  /// attention compares losses with.
  void begin_update(double usual_loss = 0);
  /// Gradients add up in the parameters. Returns the sum of losses.
  double learn(const Batch& batch, int64_t update);

  std::string culprit;  // with --check-nan: the first tensor of this update that was not finite

 private:
  double learn_part(const Batch& part, int64_t update);
  Context context(Tape& tape, int64_t update) const;
  std::string whereabouts(size_t record, const Batch& part, int64_t update) const;

  const Backend& backend_;
  Arena& arena_;
  Model& model_;
  const TrainingSetup& setup_;
  const int64_t rows_at_once_;
  double usual_loss_ = 0;
  RoundedWeights rounded_;  // of bfloat16 alone
};

}  // namespace dragoman
