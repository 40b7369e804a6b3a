#pragma once
#include <vector>

#include "comm/communicator.h"
#include "nn/parameters.h"

namespace dragoman {

/// The running statistics of batch norms in updates that are made of shards. Each micro-batch moves them a fraction of
/// the way towards its own (ops/norm.h), so they depend on the order of micro-batches: what each one adds is kept
/// apart, and all ranks apply it in the order of shards once they are learned. A column without any mean and variance
/// in a micro-batch, which may have had too few rows, is not moved by it. The parameters must outlive it.
class ShardStatistics {
 public:
  explicit ShardStatistics(const Parameters& parameters);

  bool exist() const { return !statistics_.empty(); }
  /// Before the shards of an update. A second call in place of apply() begins the update again.
  void begin_update();
  /// Around the forward pass of a micro-batch.
  void begin_micro_batch() const;
  void end_micro_batch();
  /// After the shards, on all ranks, whose shards are neighbours in the order of ranks.
  void apply(Communicator& ranks);

 private:
  std::vector<float> values() const;
  void assign(const std::vector<float>& values) const;

  std::vector<Tensor> statistics_;  // (D) each
  std::vector<float> before_;       // the update; empty: it is over
  std::vector<float> added_;        // by each micro-batch of this rank, one after the other
};

}  // namespace dragoman
