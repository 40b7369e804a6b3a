#include "train/memory.h"

#include <unistd.h>

#include "backend/registry.h"
#include "model/model.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "train/learner.h"

namespace dragoman {

MemoryPlan plan_memory(const TrainingSetup& setup, const Corpus& corpus, const BatchPlan& batches) {
  const Backend& dry = backend("dry");
  Arena arena(Arena::Reserve::addresses_only);
  const auto model = make_model(setup.model, dry, arena, DType::f32, true);
  const Adam adam(dry, arena, model->parameters(), setup.optimizer);
  std::optional<MovingAverage> average;
  if (setup.optimizer.exponential_smoothing > 0)
    average.emplace(dry, arena, model->parameters(), 1.0, setup.optimizer.freeze);
  Learner learner(dry, arena, *model, setup);
  learner.begin_update();
  MemoryPlan plan{.parameters = arena.in_use()};
  const LargestBatches largest = largest_batches(corpus, batches);
  for (int64_t b : {largest.by_target, largest.by_source}) learner.learn(assemble(corpus, batches[b]), 0);
  plan.peak = arena.peak();
  return plan;
}

void require_memory(const MemoryPlan& plan, const DataOptions& options) {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  if (plan.peak <= machine) return;
  throw Error(
      fmt::format("training would need {} MiB ({} MiB of them for the largest batch), but the machine has {} MiB",
                  plan.peak >> 20, (plan.peak - plan.parameters) >> 20, machine >> 20),
      fmt::format(
          "take a smaller model, or lower --max-length (now {}), or --mini-batch-words (now {}) to less than the "
          "{} that go forward and back together",
          options.max_length, options.mini_batch_words, rows_at_once()));
}

}  // namespace dragoman
