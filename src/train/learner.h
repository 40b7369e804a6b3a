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

/// The maximum number of tokens per side in a micro-batch on a CPU: 512 per chunk of a kernel, and at least 1,024. The
/// activations kept for the backward pass then stay in the cache and need little memory, whatever the batch size; more
/// rows would not make products faster. On a GPU, the memory decides (train/memory.h).
constexpr int64_t least_rows_at_once = 1024;
inline int64_t rows_at_once() { return std::max(least_rows_at_once, int64_t{512} * thread_count()); }

/// The number of chunks that kernels divide their work into (KernelChunks). With several gradient shards it is fixed
/// for the run, so that results do not depend on the number of threads, and a process uses at most that many threads;
/// otherwise there is one chunk per thread. Eight chunks would cost 4 % of the speed on two threads, four cost 1 to 3 %
/// (docs/scale.md).
inline int chunks_of_run(const TrainingOptions& o) { return o.gradient_shards > 1 ? 4 : 0; }

/// Runs the forward and backward pass of batches, in micro-batches of at most `rows` tokens per side and in the
/// precision of the setup. The references must outlive it.
class Learner {
 public:
  Learner(const Backend& backend, Arena& arena, Model& model, const TrainingSetup& setup, int64_t rows);

  /// Call this before the batches of an update: resets the gradients. The weights may have changed since the last
  /// update. Gradients are multiplied by `loss_scale`, a power of two.
  void begin_update(double loss_scale = 1);
  /// After OutOfMemory: resets gradients and losses, also those of links since take_loss_of_links(), whose mean is then
  /// that of the updates to come. From now on, micro-batches have at most `rows` tokens per side.
  void restart_update(int64_t rows);
  /// Resets gradients and losses within an update, before a shard.
  void begin_shard();
  /// Zeroes gradients that were not written since that reset. Returns the sum of losses since then, times the loss
  /// scale.
  double end_shard();
  /// Sets loss() for an update with shards.
  void set_loss(double sum);
  /// Adds gradients to those of the parameters and losses to loss(). After OutOfMemory, call restart_update().
  void learn(const Batch& batch, int64_t update);
  const Tensor& loss() const { return loss_; }  // (1) f64: the sum of losses in this update, times the loss scale
  /// Of the links that attention has learned since the last call (guided alignment): the sum of losses and of the
  /// weights of target tokens.
  struct LossOfLinks {
    double sum = 0, weight = 0;
  };
  LossOfLinks take_loss_of_links();
  int64_t rows() const { return rows_; }
  std::vector<Batch> micro_batches(const Batch& batch) const;

  ShardStatistics* statistics = nullptr;  // of batch norms, if updates have several shards

  std::string first_nonfinite;  // with --check-nan: the first tensor of this update that was not finite

 private:
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
  Accumulate adds_ = Accumulate::no;       // whether loss_ contains a loss of this update
  const Tensor loss_of_links_;             // (1) f64: the sum of the losses of links since take_loss_of_links()
  double weight_of_links_ = 0;             // of these
  std::optional<RoundedWeights> rounded_;  // if products have 16-bit operands
};

}  // namespace dragoman
