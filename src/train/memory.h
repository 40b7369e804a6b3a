#pragma once
#include "data/batches.h"
#include "train/setup.h"

namespace dragoman {

struct Backend;

/// What a run will need, in bytes, of each of its ranks, found by walking its largest batches forward and back on the
/// `dry` backend.
struct MemoryPlan {
  int64_t parameters = 0;  // weights, gradients, moments, averages
  int64_t peak = 0;        // with the activations of the largest batch
  int64_t rows = 0;        // tokens of a side that go forward and back together: a GPU takes a batch whole, or where it
                           // has no room for that, in halves, quarters, …; a CPU rows_at_once()
};
MemoryPlan plan_memory(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus,
                       const BatchPlan& batches, int ranks = 1);

/// --mini-batch-fit: the most target tokens of batches that a GPU takes whole, found by plans.
int64_t fitting_batch_words(TrainingSetup setup, const Backend& backend, const Corpus& corpus);

/// Error, with a remedy, when the machine, or the GPU that computes, has less than the plan's peak.
void require_memory(const MemoryPlan& plan, const Backend& backend, const DataOptions& options);

}  // namespace dragoman
