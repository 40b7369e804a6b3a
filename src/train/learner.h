#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/kernel_chunks.h"
#include "base/threads.h"
#include "model/model.h"
#include "train/setup.h"
#include "train/shard_statistics.h"

namespace dragoman {

/// How many tokens of a side go forward and back together: 512 for each chunk of a kernel, and 1,024 at least. What a
/// batch leaves behind for its backward pass then stays near the processor and needs little memory, whatever the size
/// of batches; more rows would make no product faster. That is of a CPU; a GPU takes what its memory holds
/// (train/memory.h).
constexpr int64_t least_rows_at_once = 1024;
inline int64_t rows_at_once() { return std::max(least_rows_at_once, int64_t{512} * thread_count()); }

/// Into how many chunks kernels cut their work in a run (KernelChunks): with several gradient shards a number of the
/// run, so that its bits do not depend on threads, of which a process then uses no more; otherwise one a thread. Eight
/// would cost 4 % of the speed on two threads, four 1 to 3 % (docs/scale.md).
inline int chunks_of_run(const TrainingOptions& o) { return o.gradient_shards > 1 ? 4 : 0; }

/// Teaches a model batches: forward and back, in parts of at most `rows` tokens of a side, in the precision that the
/// setup wants.
/// The references must outlive it.
class Learner {
 public:
  Learner(const Backend& backend, Arena& arena, Model& model, const TrainingSetup& setup, int64_t rows);

  /// Before the batches of an update: resets the gradients; weights may have changed. Gradients are multiplied by
  /// `loss_scale`, a power of two.
  void begin_update(double loss_scale = 1);
  /// Resets gradients and losses within an update.
  void begin_shard();
  /// Zeroes the gradients that nothing has reached since then; returns the sum of losses since then, times the loss
  /// scale.
  double end_shard();
  /// What loss() is of an update made of shards.
  void set_loss(double sum);
  /// Gradients add up in the parameters, losses in loss(). After OutOfMemory the update has to begin again.
  void learn(const Batch& batch, int64_t update);
  const Tensor& loss() const { return loss_; }  // (1) f64: their sum in this update, times the loss scale
  /// Takes at most `rows` tokens together from now on.
  void take(int64_t rows) { rows_ = rows; }
  int64_t rows() const { return rows_; }

  ShardStatistics* statistics = nullptr;  // of batch norms, where updates are made of shards

  std::string first_nonfinite;  // with --check-nan: the first tensor of this update that was not finite

 private:
  std::vector<Batch> micro_batches(const Batch& batch) const;
  void learn_micro_batch(const Batch& micro_batch, int64_t update);
  Context context(Tape& tape, int64_t update) const;
  std::string location_of(size_t record, const Batch& micro_batch, int64_t update) const;

  const Backend& backend_;
  Arena& arena_;
  Model& model_;
  const TrainingSetup& setup_;
  int64_t rows_;
  double loss_scale_ = 1;
  const Tensor loss_;
  Accumulate adds_ = Accumulate::no;       // whether loss_ has any of this update
  std::optional<RoundedWeights> rounded_;  // where products are of 16 bits
};

}  // namespace dragoman
