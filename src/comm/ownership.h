#pragma once
#include <vector>

#include "base/threads.h"
#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace dragoman {

inline int64_t length(Range r) { return r.end - r.begin; }

/// Which elements of the flat buffers of a model (nn/parameters.h) a rank updates. A flat buffer is divided into S
/// slices of whole blocks, one per gradient shard. Rank r of R owns the slices [S·r/R, S·(r+1)/R) and computes the
/// shards with the same indices. A rank stores the optimizer state of its own elements only.
class Ownership {
 public:
  /// A single process, with one slice.
  explicit Ownership(int64_t elements);
  /// Requires at least as many `slices` as ranks, and `elements` in whole blocks. The communicator must outlive it.
  Ownership(Communicator& ranks, int slices, int64_t elements, int64_t block);

  Communicator& ranks() const { return *ranks_; }
  int slices() const { return slices_; }
  int64_t block() const { return block_; }
  Range slices_of(int rank) const;
  Range own_slices() const { return slices_of(ranks_->rank()); }
  Range slice(int s) const;           // elements
  Range elements_of(int rank) const;  // of the rank's slices
  Range own() const { return elements_of(ranks_->rank()); }
  bool alone() const { return ranks_->size() == 1; }

  /// Exchanges the elements of a flat buffer: every rank sends its own and receives all others.
  void share(const Tensor& flat) const;
  /// Gathers all ranks' own elements into a whole flat buffer on rank 0; empty on other ranks. With a single process,
  /// the same tensor.
  Tensor gathered(const Tensor& own_elements) const;
  /// Exchanges one number per slice: every rank sends those of its own slices and receives all others.
  void share(std::vector<double>& of_slices) const;

 private:
  std::shared_ptr<Communicator> own_ranks_;  // of a single process
  Communicator* ranks_;
  const int slices_;
  const int64_t elements_, block_;
};

}  // namespace dragoman
