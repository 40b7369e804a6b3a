#include "train/resolve_settings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "comm/agreement.h"
#include "comm/machine_ranks.h"
#include "comm/tensor_exchange.h"
#include "train/checkpoint.h"
#include "train/learner.h"

namespace dragoman {
namespace {

TrainingPrecision precision_on(const Backend& backend, TrainingPrecision wanted) {
  if (wanted == TrainingPrecision::automatic && !backend.is_device()) return TrainingPrecision::float32;
  if (wanted != TrainingPrecision::automatic && wanted != TrainingPrecision::fastest) return wanted;
  return backend.multiplies_bfloat16 ? TrainingPrecision::bfloat16 : TrainingPrecision::float32;
}

// A resumed run keeps the batch size that it began with, whatever memory is free.
int64_t batch_words_that_fit(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus,
                             Communicator& ranks) {
  const auto began_with = resumes(setup) ? batch_words_of(state_path(setup.training.model)) : std::nullopt;
  const int64_t words = least_of(ranks, began_with ? *began_with : fitting_batch_words(setup, backend, corpus));
  log_info("Batches of {} target tokens {}", grouped(words), began_with ? "as before" : "fit into memory");
  return words;
}

}  // namespace

bool resumes(const TrainingSetup& setup) {
  const std::string &model = setup.training.model, state = state_path(model);
  if (setup.training.no_reload) return false;
  if (std::filesystem::exists(state)) return true;
  if (!std::filesystem::exists(model)) return false;
  throw Error(fmt::format("{} exists, but not its training state {}", model, state),
              "give another --model, perhaps with this one as --pretrained-model, or --no-reload to start from scratch "
              "and overwrite it");
}

// Activations of 16 bits cost no quality that was measured (recipes/README.md) and make GPUs faster.
TrainingSetup with_precision(TrainingSetup setup, const Backend& backend) {
  const bool chosen_here = setup.training.precision == TrainingPrecision::automatic;
  setup.training.precision = precision_on(backend, setup.training.precision);
  if (chosen_here && setup.training.precision == TrainingPrecision::bfloat16)
    setup.training.half_activations |= setup.model.type != ModelType::s2s;
  if (!setup.training.half_activations) return setup;
  if (setup.training.precision == TrainingPrecision::float32)
    throw Error("--half-activations keeps activations in the type of --precision, which is float32 here",
                "add --precision bfloat16, or leave out --half-activations");
  return setup;
}

// A resumed run keeps the number of shards that it began with, whatever the number of ranks.
int shards_of_run(const TrainingSetup& setup, int ranks) {
  constexpr unsigned usual = 8;  // with several ranks
  const int wanted = setup.training.gradient_shards;
  const int before = resumes(setup) ? gradient_shards_of(state_path(setup.training.model)) : 0;
  const int usual_here = ranks > 1 ? int(std::max(usual, std::bit_ceil(unsigned(ranks)))) : 1;
  const int shards = wanted > 0 ? wanted : before > 1 ? before : usual_here;
  require(std::has_single_bit(unsigned(shards)), "--gradient-shards {}, expected a power of two", shards);
  if (shards < ranks)
    throw Error(
        fmt::format("{} processes share {}: each needs at least one", ranks, counted(shards, "gradient shard")),
        wanted > 0 || before == 0
            ? "give --gradient-shards a larger power of two, or start fewer processes"
            : fmt::format(
                  "the run started with them; --gradient-shards {} changes the last digits of its further results",
                  std::bit_ceil(unsigned(ranks))));
  return shards;
}

namespace {

// The last update, by --after; infinity if updates, epochs and target tokens do not limit the run.
double last_update(const TrainingSetup& setup, const EpochSize& epoch) {
  double last = std::numeric_limits<double>::infinity();
  for (const Frequency end : setup.training.after) {
    if (end.count <= 0) continue;
    if (end.unit == Frequency::updates) last = std::min(last, double(end.count));
    if (end.unit == Frequency::epochs) last = std::min(last, double(end.count) * epoch.updates);
    if (end.unit == Frequency::target_tokens && epoch.target_tokens > 0)
      last = std::min(last, std::ceil(double(end.count) / epoch.target_tokens * epoch.updates));
  }
  return last;
}

// The number of updates in epochs is an estimate, and a few updates without learning cost nothing.
void warn_of_early_decay(const OptimizerOptions& o, double last) {
  const bool ends = o.schedule == Schedule::cosine || o.schedule == Schedule::linear;
  if (!ends || last <= 1.05 * double(o.decay_updates)) return;
  const std::string zero = grouped(o.decay_updates);
  if (std::isinf(last))
    log_warning(
        "--lr-schedule {}: the learning rate is 0 from update {} on (--lr-decay-updates), and nothing is learned then; "
        "end the run there: --after {}u",
        name_of(o.schedule), zero, o.decay_updates);
  else
    log_warning(
        "--lr-schedule {}: the learning rate is 0 from update {} on (--lr-decay-updates), and nothing is learned then, "
        "but the run ends after about {} updates; give the same number to both",
        name_of(o.schedule), zero, grouped(int64_t(last)));
}

void warn_of_long_warmup(const TrainingSetup& setup, double last) {
  const double warmup = double(setup.optimizer.warmup);
  if (last >= 2 * warmup) return;
  const std::string updates = counted(int64_t(last), "update"), of_warmup = grouped(setup.optimizer.warmup);
  const std::string better = grouped(std::max(int64_t{1}, int64_t(last / 20)));
  if (last < warmup)
    log_warning(
        "the run ends after about {}, within the {} of --lr-warmup: the learning rate never rises to its full "
        "value; lower --lr-warmup, to about {}",
        updates, of_warmup, better);
  else
    log_warning(
        "the run ends after about {}, and the learning rate rises in {} of them, more than half; lower "
        "--lr-warmup, to about {}",
        updates, of_warmup, better);
}

}  // namespace

void warn_of_schedule(const TrainingSetup& setup, const EpochSize& epoch) {
  const double last = last_update(setup, epoch);
  warn_of_long_warmup(setup, last);
  warn_of_early_decay(setup.optimizer, last);
}

MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Corpus& corpus, Communicator& ranks) {
  const KernelChunks chunks(chunks_of_run(setup.training));
  require_own_gpus(ranks, backend);
  if (setup.data.mini_batch_fit) setup.data.mini_batch_words = batch_words_that_fit(setup, backend, corpus, ranks);
  const BatchPlan batches = plan_batches(corpus, setup.data, setup.training.seed, 0);
  warn_of_schedule(setup, {.updates = double(batches.size()) / double(setup.optimizer.optimizer_delay),
                           .target_tokens = double(target_tokens(corpus, batches))});
  MemoryPlan plan = plan_memory(setup, backend, corpus, batches, ranks.size());
  plan.rows = least_of(ranks, plan.rows);
  log_info(
      "Memory: {} for weights, gradients and optimizer, {} with the largest batch{}", in_mebibytes(plan.parameters),
      in_mebibytes(plan.peak),
      backend.is_device() ? fmt::format(", in micro-batches of at most {} tokens on a side", grouped(plan.rows)) : "");
  require_memory(plan, backend, setup.data, corpus.files.machine ? corpus.files.machine->size() : 1);
  return plan;
}

}  // namespace dragoman
