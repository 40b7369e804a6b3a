#pragma once
#include <vector>

#include "base/threads.h"
#include "comm/communicator.h"
#include "tensor/tensor.h"

namespace dragoman {

inline int64_t length(Range r) { return r.end - r.begin; }

/// Which elements of the flat buffers of a model (nn/parameters.h) a rank updates. A flat buffer is cut into as many
/// slices of whole blocks as a gradient has shards. Rank r of R has the neighbouring slices [S·r/R, S·(r+1)/R) and
/// computes the shards of these numbers. The optimiser's state exists for a rank's own elements alone.
class Ownership {
 public:
  /// A process on its own, with one slice.
  explicit Ownership(int64_t elements);
  /// `slices` are at least as many as ranks, `elements` whole blocks. The communicator must outlive it.
  Ownership(Communicator& ranks, int slices, int64_t elements, int64_t block);

  Communicator& ranks() const { return *ranks_; }
  int slices() const { return slices_; }
  int64_t block() const { return block_; }
  Range slices_of(int rank) const;
  Range own_slices() const { return slices_of(ranks_->rank()); }
  Range slice(int s) const;           // elements
  Range elements_of(int rank) const;  // of its slices
  Range own() const { return elements_of(ranks_->rank()); }
  bool alone() const { return ranks_->size() == 1; }

  /// Gives every rank the other ranks' elements of a flat buffer, of which it has its own.
  void share(const Tensor& flat) const;
  /// A whole flat buffer on rank 0, made of all ranks' own elements; empty on others. The same tensor in a process on
  /// its own.
  Tensor gathered(const Tensor& own_elements) const;
  /// One number a slice, of which each rank has those of its own slices: gives it the others, too.
  void share(std::vector<double>& of_slices) const;

 private:
  std::shared_ptr<Communicator> own_ranks_;  // of a process on its own
  Communicator* ranks_;
  const int slices_;
  const int64_t elements_, block_;
};

}  // namespace dragoman
