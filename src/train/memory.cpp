#include "train/memory.h"

#include <algorithm>
#include <limits>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/grouped.h"
#include "base/machine.h"
#include "comm/gradient_tree.h"
#include "io/model_file.h"
#include "model/model.h"
#include "optim/adam.h"
#include "optim/average.h"
#include "train/learner.h"

namespace dragoman {

namespace {

int64_t longer_side(const Batch& batch) { return int64_t(std::max(batch.source.ids.size(), batch.target.ids.size())); }

// The batches of an epoch that need the most memory.
std::vector<Batch> largest_of(const Corpus& corpus, const BatchPlan& batches) {
  std::vector<Batch> largest;
  for (const int64_t b : largest_batches(corpus, batches)) largest.push_back(assemble(corpus, batches[b]));
  return largest;
}

// Stands for rank 0 of several ranks; there are no other ranks to communicate with.
class FirstOf : public Communicator {
 public:
  explicit FirstOf(int ranks) : Communicator(0, ranks) {}

 private:
  void transfer(std::span<const Outgoing>, std::span<const Incoming>) override {}
};

// Validation scores batches of at most that size, in float32. Translating comes on top, if memory is left.
void score(const Backend& dry, Arena& arena, Model& model, const std::vector<Batch>& micro_batches) {
  const PackedWeights packed = model.parameters().pack();
  for (const Batch& batch : micro_batches) {
    Context cx{.backend = dry, .arena = arena, .packed = &packed};
    model.loss(cx, batch, 0);
  }
}

// The plan for micro-batches of `rows` tokens per side. Tensors on the dry backend have no values.
MemoryPlan walk(TrainingSetup setup, const Backend& dry, std::span<const Batch> batches, int64_t rows, int ranks) {
  setup.training.check_nan = false;
  Arena arena(Arena::Reserve::addresses_only);
  const auto model = make_model(setup.model, dry, arena, DType::f32, true, trainable_by(setup.optimizer));
  FirstOf rank(ranks);
  const Ownership ownership(rank, std::max(1, setup.training.gradient_shards), model->parameters().flat_elements(),
                            Parameters::flat_block);
  const Adam adam(dry, arena, model->parameters(), setup.optimizer, ownership);
  std::optional<MovingAverage> average;
  if (setup.optimizer.exponential_smoothing > 0)
    average.emplace(dry, arena, model->parameters(), 1.0, setup.optimizer.freeze, ownership);
  GradientTree tree(dry, arena, ownership, model->parameters().flat_gradients());
  if (ownership.slices() > 1) tree.reserve();
  MemoryPlan plan{.parameters = arena.in_use(), .rows = rows};
  Learner learner(dry, arena, *model, setup, rows);
  learner.begin_update();
  for (const Batch& batch : batches) learner.learn(batch, 0);
  if (!setup.training.valid_sets.empty())
    for (const Batch& batch : batches) score(dry, arena, *model, learner.micro_batches(batch));
  if (!dry.is_device()) weights_of(model->parameters());  // as saving does; on a device they need memory one by one
  plan.peak = arena.peak();
  return plan;
}

}  // namespace

MemoryPlan plan_memory(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus,
                       const BatchPlan& batches, int ranks) {
  const Backend dry = dry_like(backend);
  const std::vector<Batch> largest = largest_of(corpus, batches);
  if (!backend.is_device()) return walk(setup, dry, largest, rows_at_once(), ranks);
  const int64_t room = backend.memory->capacity();
  int64_t rows = 0;
  for (const Batch& batch : largest) rows = std::max(rows, longer_side(batch));
  MemoryPlan plan = walk(setup, dry, largest, rows, ranks);
  while (plan.peak > room && plan.rows > least_rows_at_once) plan = walk(setup, dry, largest, plan.rows / 2, ranks);
  return plan;
}

// Memory, except that of the parameters, grows about in proportion to the batch size, so each plan predicts the next
// size to try.
int64_t fitting_batch_words(TrainingSetup setup, const Backend& backend, const Corpus& corpus) {
  const Backend dry = dry_like(backend);
  const int64_t room = backend.memory->capacity(), all = corpus.pairs.target_tokens();
  const auto plan_of = [&](int64_t words) {
    setup.data.mini_batch_words = words;
    const BatchPlan batches = plan_batches(corpus, setup.data, setup.training.seed, 0);
    return walk(setup, dry, largest_of(corpus, batches), std::numeric_limits<int64_t>::max(), 1);
  };
  const int64_t least = std::min(all, least_rows_at_once);  // if even this is too large, plan_memory uses micro-batches
  int64_t fits = 0;
  for (int64_t words = least; words > fits;) {
    const MemoryPlan plan = plan_of(words);
    const double times = double(room - plan.parameters) / double(plan.peak - plan.parameters);
    if (times < 1 && words == least) break;
    if (times >= 1) fits = words;
    words = std::min(all, int64_t(double(words) * std::min(0.98 * times, 16.0)));
    if (double(words) < 1.03 * double(fits)) break;
  }
  return std::max(fits, least);
}

void require_memory(const MemoryPlan& plan, const Backend& backend, const DataOptions& options, int processes) {
  if (backend.is_device()) processes = 1;  // each on its own
  const int64_t available = backend.is_device() ? backend.memory->capacity() : machine_memory();
  if (processes * plan.peak <= available) return;
  throw Error(
      fmt::format("training would need {} MiB ({} MiB of them for the largest batch){}, but the {} has {} MiB",
                  mebibytes(processes * plan.peak), mebibytes(processes * (plan.peak - plan.parameters)),
                  processes > 1 ? fmt::format(" in {} processes", processes) : "",
                  backend.is_device() ? "GPU" : "machine", available >> 20),
      fmt::format("use {}a smaller model, or lower --max-length (now {}), or lower --mini-batch-words (now {}) "
                  "below the {} of a micro-batch",
                  processes > 1 ? "fewer processes or " : "", options.max_length, options.mini_batch_words, plan.rows));
}

}  // namespace dragoman
