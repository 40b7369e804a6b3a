#include "train/resolve_settings.h"

#include <bit>
#include <filesystem>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "comm/agreement.h"
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

// The state is written first, so after a crash it may exist without a model.
bool resumes(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  if (!resumes(setup)) return false;
  const std::string& model = setup.training.model;
  if (std::filesystem::exists(model)) require_its_vocabularies(ModelFile(model), vocabularies, setup.data.vocabs);
  require_state_of(state_path(model), setup.model, setup.optimizer.exponential_smoothing > 0);
  return true;
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

MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies,
                            const Corpus& corpus, Communicator& ranks) {
  setup.model = with_vocabularies(setup, vocabularies);
  setup.training.gradient_shards = shards_of_run(setup, ranks.size());
  const KernelChunks chunks(chunks_of_run(setup.training));
  if (setup.data.mini_batch_fit) setup.data.mini_batch_words = batch_words_that_fit(setup, backend, corpus, ranks);
  MemoryPlan plan =
      plan_memory(setup, backend, corpus, plan_batches(corpus, setup.data, setup.training.seed, 0), ranks.size());
  plan.rows = least_of(ranks, plan.rows);
  log_info(
      "Memory: {} for weights, gradients and optimiser, {} with the largest batch{}", in_mebibytes(plan.parameters),
      in_mebibytes(plan.peak),
      backend.is_device() ? fmt::format(", in micro-batches of at most {} tokens on a side", grouped(plan.rows)) : "");
  require_memory(plan, backend, setup.data);
  return plan;
}

}  // namespace dragoman
