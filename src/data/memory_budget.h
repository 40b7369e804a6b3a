#pragma once
#include "data/corpus.h"

namespace dragoman {

/// Holds a corpus to --ram as it grows: ids that do not fit go to a file in --tempdir. What stays are lengths, 4.5
/// bytes a pair, and two plans of an epoch at a time, the present one and the next, of 4 bytes for each time that a
/// pair is met. With sampled pieces there are three corpora at a time: the one that the run began with, the present
/// one and the next.
class MemoryBudget {
 public:
  /// Call it every now and then: `planned` more pairs are in an epoch since the last time, and the corpus holds the
  /// first `share` of the text (-1: not known). Error when the disk has no room, and when even the lengths exceed
  /// --ram.
  void keep(Corpus& corpus, double planned, double share);

 private:
  int64_t needed(const Corpus& corpus) const;  // bytes
  bool fits(const Corpus& corpus) const;

  double planned_ = 0;
};

}  // namespace dragoman
