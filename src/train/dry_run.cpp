#include "train/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/scratch_folder.h"
#include "base/writable.h"
#include "comm/communicator.h"
#include "dragoman/run_control.h"
#include "train/checkpoint.h"
#include "train/destination.h"
#include "train/kept_checkpoints.h"
#include "train/prepare.h"
#include "train/pretrained.h"
#include "train/updater.h"
#include "train/validation.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Measuring ends when either limit is reached; small models need much less than the time limit.
constexpr double measuring_seconds = 5;
constexpr int64_t measuring_updates = 200;

// A run opens them.
void require_logs(const TrainingOptions& o) {
  for (const auto& [option, path] : {std::pair("log-json", o.log_json), {"log", o.log}, {"valid-log", o.valid_log}})
    if (!path.empty()) require_writable(option, path);
}

void tell(const std::vector<MissingVocabulary>& missing) {
  std::map<std::string, std::vector<std::string>> paths_by_model;
  for (const auto& [path, model] : missing) paths_by_model[model].push_back(path);
  for (const auto& [model, paths] : paths_by_model)
    if (model.empty())
      log_info("{} would be created: a temporary vocabulary was learned for this report", fmt::join(paths, " and "));
    else
      log_info("{} would be written from the vocabulary of {}", fmt::join(paths, " and "), model);
}

// Vocabularies that a run would create are made in a temporary folder.
Vocabularies open_or_learn(TrainingSetup setup, const std::vector<MissingVocabulary>& missing) {
  if (missing.empty()) return open_vocabularies(setup);
  tell(missing);
  const ScratchFolder folder;
  auto& vocabs = setup.data.vocabs;
  const bool joint = vocabs[0] == vocabs[1];
  for (size_t side : {0, 1}) {
    if (fs::exists(vocabs[side])) continue;
    const std::string name = joint ? "joint" : side == 0 ? "source" : "target";
    vocabs[side] = folder.file(name + fs::path(vocabs[side]).extension().string());  // which tells its format
  }
  const LogSink warnings = [log = bound_log()](LogLevel level, std::string_view message) {
    if (log && level == LogLevel::warning) (*log)(level, message);
  };
  const LogScope unheard(&warnings);  // other messages would name paths in the temporary folder
  return open_vocabularies(setup);
}

// The text of a run, of which the survey keeps pairs. It lasts for all epochs: it is not read again, neither as a
// stream nor to sample pieces.
Corpus sample_of(const TrainingSetup& setup, const Vocabularies& vocabularies) {
  Corpus sample;
  sample.files = corpus_files(setup, vocabularies);
  sample.files.stream = nullptr;
  sample.files.alphas = {0, 0};
  sample.pairs = PairStore(false, sample.files.linked());
  return sample;
}

// Trains for some seconds as a run does. The first update, which creates kernels and touches memory, is not counted
// unless it takes long.
void measure_speed(DryRun& run, const TrainingSetup& setup, const Vocabularies& vocabularies, const Backend& backend,
                   std::shared_ptr<const Corpus> sample) {
  Arena arena = arena_of(backend);
  const auto model = make_model(setup.model, backend, arena, DType::f32, true, trainable_by(setup.optimizer));
  model->parameters().initialise(setup.training.seed);
  if (!setup.training.pretrained_model.empty() && !run.resumes)
    load_pretrained(setup.training.pretrained_model, model->parameters(), vocabularies, setup.data.vocabs);
  run.parameters = model->parameters().count();
  run.of_updates = model->parameters().update_count();
  run.checkpoint = checkpoint_size(model->parameters(), vocabularies, setup.optimizer.exponential_smoothing > 0);
  Progress progress{.loss_scale = LossScale::at_first(setup.training.precision)};
  Unwritten unwritten;
  RunLog log({}, unwritten);
  const auto alone = single_process();
  Updater updater(setup, backend, arena, *model, run.memory.rows, progress, log, *alone);
  BatchStream batches(std::move(sample), setup.data, setup.training.seed);
  Clock clock;
  int64_t uncounted = 0;  // target tokens
  const auto done = [&] { return progress.updates == measuring_updates || updater.diverged(); };
  while (run.measured_updates == 0 || (clock.seconds() < measuring_seconds && !done())) {
    updater.update(batches);
    ++run.measured_updates;
    if (progress.updates > 1 || clock.seconds() >= measuring_seconds / 2) continue;
    updater.finish();
    clock = Clock();
    uncounted = progress.target_tokens;
    run.measured_updates = 0;
  }
  updater.finish();
  run.target_tokens_per_second = double(progress.target_tokens - uncounted) / clock.seconds();
  // At this point, kernels are created and threads have allocated their memory.
  if (!backend.is_device()) run.besides = std::max<int64_t>(0, resident_memory() - arena.peak());
}

// The memory of the encoded text beyond that of the sample.
int64_t text_beyond(const Corpus& sample, double scale, int64_t ram) {
  const int64_t sampled = sample.pairs.memory(), all = int64_t(scale * double(sampled));
  return (ram > 0 ? std::min(all, std::max(sampled, ram)) : all) - sampled;
}

}  // namespace

DryRun dry_run(TrainingSetup setup, const Backend& backend, int ranks, int ranks_here) {
  setup = with_precision(std::move(setup), backend);
  require_files(setup);
  require_logs(setup.training);
  DryRun run;
  run.missing_vocabularies = missing_vocabularies(setup);
  const Vocabularies vocabularies = open_or_learn(setup, run.missing_vocabularies);
  run.resumes = prepare(setup, backend, vocabularies, ranks);
  RunControl no_requests;
  const Validation checked(setup, vocabularies, no_requests);

  const auto sample = std::make_shared<Corpus>(sample_of(setup, vocabularies));
  run.corpus = survey_corpus(sample->files.texts, {vocabularies.source, vocabularies.target},
                             {.max_length = setup.data.max_length,
                              .crops = setup.data.max_length_crop,
                              .no_spm_encode = setup.data.no_spm_encode,
                              .seed = setup.training.seed},
                             sample.get());
  require(sample->size() > 0, "{}: no sentence pair is left to train on", text_name(sample->files.texts));
  const auto& [source, target] = run.corpus.sides;
  warn_of_unknown(setup, sample->files, {{{source.pieces, source.unknown}, {target.pieces, target.unknown}}});
  const KernelChunks chunks(chunks_of_run(setup.training));
  if (setup.data.mini_batch_fit) setup.data.mini_batch_words = fitting_batch_words(setup, backend, *sample);
  run.batch_words = setup.data.mini_batch_words;
  const BatchPlan batches = plan_batches(*sample, setup.data, setup.training.seed, 0);
  const int64_t full_pairs = run.corpus.lines - run.corpus.empty.count;
  const double scale = double(full_pairs) / double(run.corpus.encoded);
  run.sampled = run.corpus.encoded < full_pairs;
  run.epochs = setup.data.stream > 0 ? double(run.corpus.lines) / double(setup.data.stream) : 0;
  const double epochs_read = std::max(1.0, run.epochs);
  run.updates = scale * double(batches.size()) / double(setup.optimizer.optimizer_delay) / epochs_read;
  run.target_tokens = scale * double(target_tokens(*sample, batches)) / epochs_read;
  warn_of_schedule(setup, {.updates = run.updates, .target_tokens = run.target_tokens});
  run.memory = plan_memory(setup, backend, *sample, batches, ranks);
  require_memory(run.memory, backend, setup.data, ranks_here);
  measure_speed(run, setup, vocabularies, backend, sample);
  if (run.besides > 0) run.besides += text_beyond(*sample, scale, setup.data.ram.bytes);
  run.free_disk = free_space(setup.training.model);
  require_room(setup.training, run.checkpoint);
  return run;
}

std::optional<RunLength> length_of_run(const DryRun& run, const std::vector<Frequency>& after) {
  std::optional<RunLength> shortest;
  const double target_tokens_per_update = run.target_tokens / run.updates;
  const auto may_end_after = [&](double target_tokens) {
    const RunLength length{target_tokens / target_tokens_per_update, target_tokens / run.target_tokens_per_second};
    if (!shortest || length.seconds < shortest->seconds) shortest = length;
  };
  if (run.epochs > 0) may_end_after(std::max(1.0, run.epochs) * run.target_tokens);
  for (const Frequency end : after) {
    if (end.count <= 0) continue;
    double target_tokens = double(end.count);
    if (end.unit == Frequency::epochs) target_tokens *= run.target_tokens;
    if (end.unit == Frequency::updates) target_tokens *= target_tokens_per_update;
    if (end.unit == Frequency::minutes) target_tokens *= 60 * run.target_tokens_per_second;
    may_end_after(target_tokens);
  }
  return shortest;
}

}  // namespace dragoman
