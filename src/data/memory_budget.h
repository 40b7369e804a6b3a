#pragma once
#include "data/corpus.h"

namespace dragoman {

/// Keeps a growing corpus within --ram: ids that do not fit go to a file in --tempdir. The lengths, 4.5
/// bytes per pair (6.5 with links), and the plans of the current and the next epoch, 4 to 6 bytes for each occurrence
/// of a pair, stay in the memory of each process of a machine that shares the corpus. With sampled pieces there are
/// three corpora at a time: the first one of the run, the current one and the next.
class MemoryBudget {
 public:
  /// Call it regularly. `planned`: occurrences in an epoch of the pairs added since the last call; `share`: the part of
  /// the text that the corpus holds (-1: unknown). Error if the disk has no room, and if lengths alone exceed --ram.
  void keep(Corpus& corpus, double planned, double share);

 private:
  int64_t needed(const Corpus& corpus) const;  // bytes
  bool fits(const Corpus& corpus) const;

  double planned_ = 0;
};

}  // namespace dragoman
