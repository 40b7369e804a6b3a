#pragma once
#include <vector>

#include "comm/communicator.h"
#include "nn/parameters.h"

namespace dragoman {

/// The running statistics of batch norms in updates with several shards. Each micro-batch moves them a fraction of the
/// way towards its own statistics (ops/norm.h), so they depend on the order of micro-batches. So the change by each
/// micro-batch is stored, and all ranks apply the changes in the order of shards at the end of the update. A
/// micro-batch with too few rows for a mean and variance does not change them. The parameters must outlive it.
class ShardStatistics {
 public:
  explicit ShardStatistics(const Parameters& parameters);

  bool exist() const { return !statistics_.empty(); }
  /// Call this before the shards of an update. A second call instead of apply() restarts the update.
  void begin_update();
  /// Call these before and after the forward pass of a micro-batch.
  void begin_micro_batch() const;
  void end_micro_batch();
  /// Call this after the shards, on all ranks. The shards of a rank are consecutive, in the order of ranks.
  void apply(Communicator& ranks);

 private:
  std::vector<float> values() const;
  void assign(const std::vector<float>& values) const;

  std::vector<Tensor> statistics_;  // (D) each
  std::vector<float> before_;       // at the beginning of the update; empty: no update is in progress
  std::vector<float> added_;        // change by each micro-batch of this rank, concatenated
};

}  // namespace dragoman
