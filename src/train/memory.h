#pragma once
#include "data/batches.h"
#include "train/setup.h"

namespace dragoman {

struct Backend;

/// The memory in bytes that each rank of a run will need, found by running forward and backward passes of its largest
/// batches on the `dry` backend, and if it validates, scoring them.
struct MemoryPlan {
  int64_t parameters = 0;  // weights, gradients, moments, averages
  int64_t peak = 0;        // with the activations of the largest batch
  int64_t rows = 0;        // tokens per side of a micro-batch: on a GPU the whole batch or, if memory is
                           // short, a half, a quarter, …; on a CPU rows_at_once()
};
MemoryPlan plan_memory(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus,
                       const BatchPlan& batches, int ranks = 1);

/// --mini-batch-fit: the largest batch size in target tokens that fits on a GPU without micro-batches, found by plans.
int64_t fitting_batch_words(TrainingSetup setup, const Backend& backend, const Corpus& corpus);

/// Error, with a hint, if the GPU has less memory than the plan's peak, or the machine less than those of its
/// processes.
void require_memory(const MemoryPlan& plan, const Backend& backend, const DataOptions& options, int processes = 1);

}  // namespace dragoman
