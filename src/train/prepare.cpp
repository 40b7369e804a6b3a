#include "train/prepare.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/log.h"
#include "base/writable.h"
#include "model/model.h"
#include "optim/frozen.h"
#include "train/checkpoint.h"
#include "train/destination.h"
#include "train/pretrained.h"
#include "train/valid_script.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// The state is written first, so after a crash it may exist without a model.
void require_state(const TrainingSetup& setup, const Vocabularies& vocabularies, const Parameters& parameters) {
  const std::string &model = setup.training.model, state = state_path(model);
  const auto require_own_state = [&] {
    require_state_of(state, setup.model, parameters, setup.optimizer.exponential_smoothing > 0);
  };
  std::optional<Vocabularies> stored;
  try {
    if (fs::exists(model)) stored = ModelFile(model).vocabularies();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    require_own_state();
    throw Error(error.what(),
                fmt::format("remove {}: the run resumes from {} alone, and writes the model again", model, state));
  }
  if (stored) require_its_vocabularies(model, *stored, vocabularies, setup.data.vocabs);
  require_own_state();
}

}  // namespace

void require_files(const TrainingSetup& setup) {
  const TrainingOptions& o = setup.training;
  require_writable_model(o.model);
  for (const auto& [what, path] : files_beside_model(o))
    if (!is_replaceable(path))
      throw Error(fmt::format("{}, {}, exists and is not a regular file, so it is not replaced", what, path),
                  fmt::format("ls -ld {} shows what is there: remove it, or give another --model", path));
  for (const std::string& path : setup.data.vocabs)
    if (!fs::exists(path)) require_writable("vocabs", path);
  for (const std::string& path : files_of(training_texts(setup.data)))
    if (!is_pipe(path)) FileDescriptor::to_read(path);
  for (const std::string& path : o.valid_sets) FileDescriptor::to_read(path);
  if (o.valid_sets.empty()) return;
  if (std::ranges::count(o.valid_metrics, ValidMetric::translation) > 0)
    require_program({o.valid_script_path, o.valid_script_args});
  if (!o.valid_translation_output.empty()) require_writable("valid-translation-output", o.valid_translation_output);
}

bool prepare(TrainingSetup& setup, const Backend& backend, const Vocabularies& vocabularies, int ranks) {
  const DecoderStart wanted = setup.model.decoder_start;
  setup.model = with_vocabularies(setup, vocabularies);
  if (setup.model.decoder_start != wanted)
    log_info("{} has no <s>: the decoder begins with a vector of zeros, as in Marian (--decoder-start zero)",
             setup.data.vocabs[1]);
  setup.training.gradient_shards = shards_of_run(setup, ranks);
  const bool resumed = resumes(setup);
  const std::string& pretrained = setup.training.pretrained_model;
  const bool begins_with_pretrained = !resumed && !pretrained.empty();
  if (begins_with_pretrained) require_pretrained_vocabularies(pretrained, vocabularies, setup.data.vocabs);
  const Backend dry = dry_like(backend);
  Arena without_memory(Arena::Reserve::addresses_only);
  const auto model = make_model(setup.model, dry, without_memory, DType::f32, true, trainable_by(setup.optimizer));
  if (resumed) {
    require_state(setup, vocabularies, model->parameters());
    setup.model.initialisation = config_of_state(state_path(setup.training.model)).initialisation;
  }
  trained_rows(model->parameters(), setup.optimizer.freeze);
  if (begins_with_pretrained) require_pretrained(pretrained, model->parameters(), vocabularies, setup.data.vocabs);
  return resumed;
}

}  // namespace dragoman
