#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "backend/backend.h"
#include "backend/registry.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/threads.h"
#include "comm/agreement.h"
#include "comm/machine_ranks.h"
#include "comm/tensor_exchange.h"
#include "data/prefetch.h"
#include "io/config_json.h"
#include "io/xxhash64.h"
#include "model/frame.h"
#include "train/prepare.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

TrainingSetup with_files(TrainingSetup setup, const Communicator& ranks) {
  if (ranks.rank() == 0) require_files(setup);
  return setup;
}

// Only rank 0 writes the log of the run.
RunLogOptions logs_of(const TrainingSetup& setup, const Communicator& ranks) {
  RunLogOptions logs = setup.training;
  if (ranks.rank() > 0) logs = {.observer = setup.training.observer};
  return logs;
}

std::shared_ptr<const Corpus> read_training_text(const TrainingSetup& setup, const Vocabularies& vocabularies,
                                                 Communicator& ranks) {
  CorpusFiles files = with_sampled_copies(corpus_files(setup, vocabularies));
  if (ranks.size() > 1) files.machine = std::make_shared<const MachineRanks>(ranks);
  if (files.stream && ranks.rank() > 0 && files.machine->first() && std::ranges::count(files_of(files.texts), "-") > 0)
    throw Error("--train-sets -: only the first process has stdin, and this one is on another machine",
                "give names of files or pipes that exist on each machine, with the same text");
  auto corpus = read_corpus(files);
  log_info("{}", corpus->report.summary());
  warn_of_unknown(setup, corpus->files, corpus->report.unknown);
  if (!setup.data.corpus_weights.empty())
    log_info("An epoch is about {} pairs, by --corpus-weights", grouped(pairs_an_epoch(*corpus)));
  if (files.stream)
    log_info("The text is a stream: an epoch is {} lines of it, and training ends with it",
             grouped(files.stream->part_lines));
  return corpus;
}

// Numbers of pieces, without the special ones around them. Of a stream the updates count them.
TrainedLengths longest_of(const Corpus& corpus, const SentenceFrames& frames) {
  if (corpus.files.stream) return {};
  const PairStore& pairs = corpus.pairs;
  TrainedLengths longest;
  for (int64_t i = 0; i < pairs.size(); ++i)
    longest = {std::max(longest.source, int(pairs.source_length(i))),
               std::max(longest.target, int(pairs.target_length(i)))};
  return {longest.source - int(frames.source.size()), longest.target - int(frames.target.size())};
}

bool never_ends(const TrainingSetup& setup) {
  const TrainingOptions& o = setup.training;
  const bool validates = !o.valid_sets.empty() && o.valid_freq.count > 0;
  return setup.data.stream == 0 && std::ranges::none_of(o.after, [](Frequency end) { return end.count > 0; }) &&
         !(validates && o.early_stopping > 0);
}

std::unique_ptr<Model> initialised_model(const TrainingSetup& setup, const Backend& backend, Arena& arena) {
  auto model = make_model(setup.model, backend, arena, DType::f32, true, trainable_by(setup.optimizer));
  model->parameters().initialise(setup.training.seed);
  return model;
}

RunReport report_of(const Window& window, double rate, const Stopping& stopping, const Progress& progress) {
  return {.cost = window.mean_cost(),
          .seconds = window.clock.seconds(),
          .words_per_second = window.words_per_second(),
          .learning_rate = rate,
          .gradient_norm = window.norm,
          .fraction_done = stopping.fraction_done(progress),
          .remaining = stopping.remaining(progress)};
}

}  // namespace

Trainer::Trainer(TrainingSetup setup, const Backend& backend) : Trainer(std::move(setup), backend, nullptr, nullptr) {}
Trainer::Trainer(TrainingSetup setup, const Backend& backend, RunControl& control)
    : Trainer(std::move(setup), backend, &control, nullptr) {}
Trainer::Trainer(TrainingSetup setup, const Backend& backend, RunControl& control, Communicator& ranks)
    : Trainer(std::move(setup), backend, &control, &ranks) {}

Trainer::Trainer(TrainingSetup setup, const Backend& backend, RunControl* control, Communicator* ranks)
    : control_(control ? *control : no_requests_),
      alone_(single_process()),
      ranks_(ranks ? *ranks : *alone_),
      setup_(with_files(with_precision(std::move(setup), backend), ranks_)),
      backend_(backend),
      log_(logs_of(setup_, ranks_), unwritten_),
      vocabularies_(open_vocabularies(setup_, ranks_, made_)),
      resumes_(prepare(setup_, backend_, vocabularies_, ranks_.size())),
      validation_(setup_, vocabularies_, control_),
      corpus_(read_training_text(setup_, vocabularies_, ranks_)),
      plan_(resolve_settings(setup_, backend_, *corpus_, ranks_)),
      arena_(arena_of(backend)),
      longest_(longest_of(*corpus_, frames_of(setup_.model))),
      order_(batch_order(*corpus_, setup_)),
      model_(initialised_model(setup_, backend_, arena_)),
      updater_(setup_, backend_, arena_, *model_, plan_.rows, progress_, log_, ranks_),
      kept_(setup_.training, checkpoint(), ranks_, progress_, log_, unwritten_) {
  if (leads()) require_room(setup_.training, checkpoint());
  log_info("Model: {} parameters, {} + {} layers of dim {}", grouped(model_->parameters().count()),
           setup_.model.encoder_layers, setup_.model.decoder_layers, setup_.model.dim);
  if (const int64_t rank = setup_.optimizer.lora_rank; rank > 0)
    log_info("LoRA: updates of rank {} are trained, which have {} parameters", rank,
             grouped(model_->parameters().update_count()));
  if (never_ends(setup_))
    log_warning("this run has no end: give --after, or --valid-sets with --early-stopping and --valid-freq above 0");
  begin_or_resume();
  require_same_run();
  if (!setup_.training.no_nccl) link_gpus(ranks_, backend_);
}

// Broadcasts a decision of rank 0, which alone decides about files, times and signals. All ranks call it at the same
// point.
bool Trainer::decide(bool of_rank_0) const { return ranks_.broadcast(of_rank_0); }

// Ranks that differ in any of these would compute wrong results, or fail.
void Trainer::require_same_run() {
  if (ranks_.size() == 1) return;
  XxHash64 weights;
  weights.add(bytes_of(model_->parameters().flat_values().on_host()));
  for (const auto& p : model_->parameters().named())
    if (p.frozen) weights.add(bytes_of(p.value.on_host()));
  std::string measured;
  for (const ValidMetric metric : setup_.training.valid_metrics) measured += validation_.fingerprint(metric);
  require_same(ranks_,
               {{"instruction set or library", backend_.arithmetic},
                {"configuration of the model", to_json(setup_.model)},
                {"corpus", fmt::format("{:016x}", order_.fingerprint)},
                {"order of batches", order_.options},
                {"validation set", measured},
                {"set of initial weights", fmt::format("{:016x}", weights.digest())},
                {"state of the run", to_json(StoredProgress{progress_, updater_.adam().steps, model_->baseline()})}});
}

void Trainer::run() {
  const KernelChunks chunks(chunks_of_run(setup_.training));
  log_.announce(progress_.moment(), RunStarted{setup_.training.model, model_->parameters().count(), resumes_});
  const Stopping stopping(setup_.training.after, pairs_an_epoch(*corpus_), progress_);
  std::optional<BatchStream> batches;
  while (!train(stopping, batches)) roll_back();
  const RunEnd::Reason end = reason();
  save_at_end(decide(end != RunEnd::signal));
  if (decide(end == RunEnd::after || end == RunEnd::end_of_text)) validate_at_end();
  kept_.warn_of_others();
  log_.announce(progress_.moment(), RunEnd{end, stopping.epochs(progress_), stalled().validations});
  log_.close();
  unwritten_.require_none();
}

// Trains until the run ends, or returns false as soon as it has diverged. Then another call needs other batches, except
// those of a stream, which cannot be read again.
bool Trainer::train(const Stopping& stopping, std::optional<BatchStream>& batches) {
  const TrainingOptions& o = setup_.training;
  const int64_t begin = progress_.updates;
  const bool streams = corpus_->files.stream != nullptr, reads = streams || corpus_->files.sampled();
  if (!streams) corpus_ = for_epoch(corpus_, progress_.position.epoch);
  if (!batches || !streams) batches.emplace(corpus_, setup_.data, o.seed, progress_.position);
  Recurring display(o.disp_freq, progress_), validation(o.valid_freq, progress_), saving(o.save_freq, progress_);
  updater_.window() = {};
  while (!ended(stopping)) {
    const DecayPoint before = decay_point();
    const auto wait = reads ? wait_for_text(*batches, progress_.updates > begin) : BatchStream::Wait::over;
    text_ended_ = wait == BatchStream::Wait::ended;
    if (text_ended_) break;
    if (wait == BatchStream::Wait::too_long) {
      pause_for_work(before, false, decide(saving.due(progress_)));
      continue;
    }
    if (!pass_useless_parts(batches->position())) updater_.update(*batches);
    made_.keep();
    if (updater_.diverged()) return false;
    if (decide(display.due(progress_))) {
      report(stopping);
    } else {
      log_.tick(progress_.moment(), report_of(updater_.window(), updater_.rate(), stopping, progress_));
    }
    const bool validates = decide(validation.due(progress_) && progress_.validated != progress_.updates),
               saves = decide(saving.due(progress_));
    if (validates || saves) updater_.finish();
    const Clock pause;
    pause_for_work(before, validates, saves);
    updater_.window().clock.leave_out(pause);  // words/s counts training time only
  }
  if (o.disp_freq.count > 0) report(stopping);
  return true;
}

// Whether text that is read during training has the batches of another update. Ranks decide together, as they may have
// read differently far. Text that cannot be read, or differs between machines, ends the run, which saves what it has
// learned.
BatchStream::Wait Trainer::wait_for_text(BatchStream& batches, bool learned) {
  using Wait = BatchStream::Wait;
  try {
    const Wait wait = Wait(least_of(ranks_, int64_t(batches.wait_for(setup_.optimizer.optimizer_delay))));
    if (wait == Wait::failed) fail_together(ranks_, batches.failure());
    if (wait != Wait::too_long && corpus_->files.stream)
      require_same(ranks_, {{"part of the text", fmt::to_string(batches.text())}});
    return wait;
  } catch (const RankLost&) {
    throw;
  } catch (...) {
    if (learned) try_save([&] { save_at_end(false); });
    throw;
  }
}

// A part of a stream of which no pair can be used is an epoch without updates. Returns whether there was one: what is
// due at its end comes before the next update.
bool Trainer::pass_useless_parts(const Position& next) {
  if (next == progress_.position) return false;
  progress_.position = next;
  progress_.ended_epoch = Progress::EndedEpoch();
  return true;
}

// Reports the updates since the last report, if there are any.
void Trainer::report(const Stopping& stopping) {
  updater_.finish();
  if (updater_.window().target_tokens == 0) return;
  RunReport report = report_of(updater_.window(), updater_.rate(), stopping, progress_);
  report.alignment_cost = updater_.take_loss_of_links().value_or(-1);
  log_.announce(progress_.moment(), report);
  warn_of_divergence(updater_.window().mean_cost());
  updater_.window() = {};
}

// Training can diverge although all numbers stay finite. A model that guesses uniformly among V pieces has a cost of ln
// V; random weights begin near that, and a model with far more than twice that cost is confidently wrong.
void Trainer::warn_of_divergence(double cost) {
  const double guessing = std::log(double(setup_.model.target_vocabulary));
  if (diverging_ || cost <= 2 * guessing + 10) return;
  diverging_ = true;
  log_warning(
      "update {}: the cost {:.6g} is far above {:.3g}, that of uniform guessing: training diverges, although all "
      "numbers are finite; stop it, lower --learn-rate or raise --lr-warmup, and start again with --no-reload or "
      "another --model",
      grouped(progress_.updates), cost, guessing);
}

// Actions between updates that are due or were requested. After a skipped update no checkpoint is saved, because the
// run may have to roll back to the last one. `before` is the point before the update.
void Trainer::pause_for_work(const DecayPoint& before, bool validation_due, bool saving_due) {
  if (validation_due)
    validate();
  else if (decide(control_.validate.exchange(false)))
    validate_on_request();
  decay_rate(before);
  if (saving_due) save_due_ = numbered_due_ = true;
  if (decide(control_.save.exchange(false))) save_due_ = true;
  if (!save_due_) return;
  updater_.finish();
  if (progress_.skipped_in_a_row > 0) return;
  save_due_ = false;
  const bool numbered = std::exchange(numbered_due_, false);
  try_save([&] { save(numbered); });
}

bool Trainer::ended(const Stopping& stopping) const {
  return decide(stopping.reached(progress_) || control_.stop || stops_early());
}

RunEnd::Reason Trainer::reason() const {
  if (control_.stop) return RunEnd::signal;
  if (stops_early()) return RunEnd::early_stopping;
  return text_ended_ ? RunEnd::end_of_text : RunEnd::after;
}

bool Trainer::stops_early() const {
  const int64_t patience = setup_.training.early_stopping;
  return patience > 0 && validation_.exists() && stalled().validations >= patience;
}

}  // namespace dragoman
