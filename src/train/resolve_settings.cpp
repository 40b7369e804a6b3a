#include "train/resolve_settings.h"

#include <filesystem>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "train/checkpoint.h"

namespace dragoman {
namespace {

bool resumes(const TrainingSetup& setup) {
  return !setup.training.no_reload && std::filesystem::exists(state_path(setup.training.model));
}

TrainingPrecision precision_on(const Backend& backend, TrainingPrecision wanted) {
  if (wanted == TrainingPrecision::automatic && !backend.is_device()) return TrainingPrecision::float32;
  if (wanted != TrainingPrecision::automatic && wanted != TrainingPrecision::fastest) return wanted;
  return backend.multiplies_bfloat16 ? TrainingPrecision::bfloat16 : TrainingPrecision::float32;
}

// A run resumes with batches of the size that it began with, whatever memory is free by then.
int64_t batch_words_that_fit(const TrainingSetup& setup, const Backend& backend, const Corpus& corpus) {
  const auto began_with = resumes(setup) ? batch_words_of(state_path(setup.training.model)) : std::nullopt;
  const int64_t words = began_with ? *began_with : fitting_batch_words(setup, backend, corpus);
  log_info("Batches of {} target pieces {}", grouped(words), began_with ? "as before" : "fit into the memory");
  return words;
}

}  // namespace

MemoryPlan resolve_settings(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies,
                            const Corpus& corpus) {
  setup.model = with_vocabularies(setup, vocabularies);
  setup.training.precision = precision_on(backend, setup.training.precision);
  if (setup.data.mini_batch_fit) setup.data.mini_batch_words = batch_words_that_fit(setup, backend, corpus);
  const MemoryPlan plan = plan_memory(setup, backend, corpus, plan_batches(corpus, setup.data, setup.training.seed, 0));
  log_info("Memory: {} for weights, gradients and optimiser, {} with the largest batch{}",
           in_mebibytes(plan.parameters), in_mebibytes(plan.peak),
           backend.is_device() ? fmt::format(", in parts of at most {} pieces a side", grouped(plan.rows)) : "");
  require_memory(plan, backend, setup.data);
  return plan;
}

}  // namespace dragoman
