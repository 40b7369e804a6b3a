#include "train/memory.h"

#include <unistd.h>

#include "backend/registry.h"
#include "model/model.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "train/learner.h"

namespace dragoman {

MemoryPlan plan_memory(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus,
                       const BatchPlan& batches) {
  const Backend& dry = dragoman::backend("dry");
  Arena arena(Arena::Reserve::addresses_only);
  const auto model = make_model(setup.model, dry, arena, DType::f32, true);
  const Adam adam(dry, arena, model->parameters(), setup.optimizer);
  std::optional<MovingAverage> average;
  if (setup.optimizer.exponential_smoothing > 0)
    average.emplace(dry, arena, model->parameters(), 1.0, setup.optimizer.freeze);
  Learner learner(dry, arena, *model, setup, rows_at_once(backend));
  learner.begin_update();
  MemoryPlan plan{.parameters = arena.in_use()};
  const LargestBatches largest = largest_batches(corpus, batches);
  for (int64_t b : {largest.by_target, largest.by_source}) learner.learn(assemble(corpus, batches[b]), 0);
  plan.peak = arena.peak();
  return plan;
}

void require_memory(const MemoryPlan& plan, const Backend& backend, const DataOptions& options) {
  const int64_t there =
      backend.memory ? backend.memory->capacity() : int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  if (plan.peak <= there) return;
  const std::string less =
      backend.memory ? ""
                     : fmt::format(" to less than the {} that go forward and back together", rows_at_once(backend));
  throw Error(fmt::format("training would need {} MiB ({} MiB of them for the largest batch), but the {} has {} MiB",
                          plan.peak >> 20, (plan.peak - plan.parameters) >> 20, backend.memory ? "GPU" : "machine",
                          there >> 20),
              fmt::format("take a smaller model, or lower --max-length (now {}), or --mini-batch-words (now {}){}",
                          options.max_length, options.mini_batch_words, less));
}

}  // namespace dragoman
