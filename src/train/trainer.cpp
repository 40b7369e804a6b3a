#include "train/trainer.h"

#include <cmath>
#include <filesystem>

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
#include "model/frame.h"
#include "train/destination.h"
#include "train/not_finite.h"
#include "train/pretrained.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

TrainingSetup with_writable_model(TrainingSetup setup, const Communicator& ranks) {
  if (ranks.rank() == 0) require_writable("model", setup.training.model);
  return setup;
}

// Only rank 0 writes the log of the run.
RunLogOptions logs_of(const TrainingSetup& setup, const Communicator& ranks) {
  RunLogOptions logs = setup.training;
  if (ranks.rank() > 0) logs = {.quiet = true, .observer = setup.training.observer};
  return logs;
}

std::shared_ptr<const Corpus> read_training_text(const TrainingSetup& setup, const Vocabularies& vocabularies,
                                                 Communicator& ranks) {
  CorpusFiles files = corpus_files(setup, vocabularies);
  if (ranks.size() > 1) files.machine = std::make_shared<const MachineRanks>(ranks);
  auto corpus = read_corpus(files);
  log_info("{}", corpus->report.summary());
  if (!setup.data.corpus_weights.empty())
    log_info("An epoch is about {} pairs, by --corpus-weights", grouped(pairs_an_epoch(*corpus, setup.data)));
  return corpus;
}

// Numbers of pieces, without the special ones around them.
TrainedLengths longest_of(const PairStore& pairs, const SentenceFrames& frames) {
  TrainedLengths longest;
  for (int64_t i = 0; i < pairs.size(); ++i)
    longest = {std::max(longest.source, int(pairs.source_length(i))),
               std::max(longest.target, int(pairs.target_length(i)))};
  return {longest.source - int(frames.source.size()), longest.target - int(frames.target.size())};
}

bool never_ends(const TrainingOptions& o) {
  const bool validates = !o.valid_sets.empty() && o.valid_freq.count > 0;
  return std::ranges::none_of(o.after, [](Frequency end) { return end.count > 0; }) &&
         !(validates && o.early_stopping > 0);
}

// Compares a value with the best of its metric so far. A non-finite value is never better.
RunValidation::Figure compared(ValidMetric metric, double value, const std::map<std::string, double>& best) {
  RunValidation::Figure figure{.metric = std::string(name_of(metric)), .value = value};
  const auto found = best.find(figure.metric);
  figure.any_best = found != best.end();
  if (figure.any_best) figure.best = found->second;
  const bool beats = !figure.any_best || (rises(metric) ? value > figure.best : value < figure.best);
  figure.better = std::isfinite(value) && beats;
  return figure;
}

std::unique_ptr<Model> initialised_model(const TrainingSetup& setup, const Backend& backend, Arena& arena) {
  auto model = make_model(setup.model, backend, arena, DType::f32, true);
  model->parameters().initialise(setup.training.seed);
  return model;
}

RunReport report_of(const Window& window, double rate, const Stopping& stopping, const Progress& progress) {
  return {.cost = window.mean_cost(),
          .seconds = window.clock.seconds(),
          .words_per_second = window.words_per_second(),
          .learning_rate = rate,
          .gradient_norm = window.norm,
          .share = stopping.share(progress),
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
      setup_(with_writable_model(with_precision(std::move(setup), backend), ranks_)),
      backend_(backend),
      log_(logs_of(setup_, ranks_), unwritten_),
      arena_(arena_of(backend)),
      vocabularies_(open_vocabularies(setup_, ranks_, made_)),
      corpus_(read_training_text(setup_, vocabularies_, ranks_)),
      plan_(resolve_settings(setup_, backend_, vocabularies_, *corpus_, ranks_)),
      trained_(longest_of(corpus_->pairs, frames_of(setup_.model))),
      order_(batch_order(*corpus_, setup_)),
      model_(initialised_model(setup_, backend_, arena_)),
      updater_(setup_, backend_, arena_, *model_, plan_.rows, progress_, log_, ranks_),
      validation_(setup_, vocabularies_) {
  if (leads()) require_room();
  begin_or_resume();
  require_same_run();
  if (!setup_.training.no_nccl) link_gpus(ranks_, backend_);
}

// Broadcasts a decision of rank 0, which alone decides about files, times and signals. All ranks call it at the same
// point.
bool Trainer::decide(bool of_rank_0) const { return ranks_.broadcast(of_rank_0); }

// Ranks that differ in any of these would compute wrong results, or fail.
void Trainer::require_same_run() {
  require_same(ranks_,
               {{"instruction set or library", backend_.arithmetic},
                {"configuration of the model", to_json(setup_.model)},
                {"corpus", fmt::format("{:016x}", order_.fingerprint)},
                {"order of batches", order_.options},
                {"state of the run", to_json(StoredProgress{progress_, updater_.adam().steps, model_->baseline()})}});
}

// Numbered checkpoints and best models are written later: if they may not fit, a warning is enough.
void Trainer::require_room() {
  const TrainingOptions& o = setup_.training;
  const CheckpointSize size =
      checkpoint_size(model_->parameters().count(), vocabularies_, updater_.average().has_value());
  const int64_t available = free_space(o.model);
  require_space(o.model, size, available);
  const int64_t more = o.keep_last + (o.keep_best ? int64_t(o.valid_metrics.size()) : 0);
  if (const int64_t all = size.model * (more + 1) + size.state; more > 0 && all > available)
    log_warning("--keep-last {} and the other files of the run need up to {} MiB, but the disk of {} has {} MiB free",
                o.keep_last, all >> 20, o.model, available >> 20);
}

RunState Trainer::run_state() {
  const TrainingPrecision precision = setup_.training.precision;
  const int shards = setup_.training.gradient_shards;
  const std::string parts = shards > 1 ? fmt::format("{} gradient shards", shards)
                                       : fmt::format("{} thread{}", thread_count(), thread_count() == 1 ? "" : "s");
  return {
      model_->parameters(),
      updater_.adam(),
      updater_.average(),
      progress_,
      model_->baseline(),
      updater_.ownership(),
      fmt::format("{}, {}{}", parts, backend_.arithmetic,
                  precision == TrainingPrecision::float32 ? "" : fmt::format(", products in {}", name_of(precision)))};
}

void Trainer::begin() {
  if (setup_.training.precision == TrainingPrecision::float16) progress_.loss_scale.value = LossScale::first;
  const std::string& pretrained = setup_.training.pretrained_model;
  if (pretrained.empty()) return;
  load_pretrained(pretrained, model_->parameters(), vocabularies_, setup_.data.vocabs);
  if (updater_.average()) updater_.average()->restart();
}

void Trainer::begin_or_resume() {
  const std::string &model = setup_.training.model, state = state_path(model);
  log_info("Model: {} parameters, {} + {} layers of dim {}", grouped(model_->parameters().count()),
           setup_.model.encoder_layers, setup_.model.decoder_layers, setup_.model.dim);
  if (never_ends(setup_.training))
    log_warning("this run has no end: give --after, or --valid-sets with --early-stopping");
  const bool has_model = std::filesystem::exists(model), has_state = std::filesystem::exists(state);
  if (setup_.training.no_reload || (!has_model && !has_state)) return begin();
  if (!has_state)
    throw Error(fmt::format("{} exists, but not its training state {}", model, state),
                "give another --model, perhaps with this one as --pretrained-model, or --no-reload to start from "
                "scratch and overwrite it");
  // The state is written first, so after a crash it may exist without a model.
  if (has_model) require_its_vocabularies(ModelFile(model), vocabularies_, setup_.data.vocabs);
  load_state(state, run_state(), setup_.model, order_,
             {.corpus = !setup_.training.no_restore_corpus, .optimizer = !setup_.training.no_optimizer_reload});
  resumes_ = true;
  log_info("Resuming from {}: update {}, epoch {}", state, grouped(progress_.updates), progress_.epoch());
}

void Trainer::run() {
  const KernelChunks chunks(chunks_of_run(setup_.training));
  log_.announce(progress_.moment(), RunStarted{setup_.training.model, model_->parameters().count(), resumes_});
  const Stopping stopping(setup_.training.after, pairs_an_epoch(*corpus_, setup_.data), progress_);
  while (!train(stopping)) roll_back();
  if (saved_ != progress_.updates) save();
  log_.announce(progress_.moment(), RunEnd{reason(), stopping.epochs(progress_), progress_.stalled});
  log_.close();
  unwritten_.require_none();
}

// Trains until the run ends, or returns false as soon as it has diverged.
bool Trainer::train(const Stopping& stopping) {
  const TrainingOptions& o = setup_.training;
  if (corpus_->files.sampled() && corpus_->epoch != progress_.position.epoch)
    corpus_ = read_corpus(corpus_->files, progress_.position.epoch);
  BatchStream batches(corpus_, setup_.data, o.seed, progress_.position);
  Recurring display(o.disp_freq, progress_), validation(o.valid_freq, progress_), saving(o.save_freq, progress_);
  updater_.window() = {};
  while (!ended(stopping)) {
    updater_.update(batches);
    made_.keep();
    if (updater_.diverged()) return false;
    if (display.due(progress_)) {
      report(stopping);
    } else {
      log_.tick(progress_.moment(), report_of(updater_.window(), updater_.rate(), stopping, progress_));
    }
    const bool validates = decide(validation.due(progress_)), saves = decide(saving.due(progress_));
    if (validates || saves) updater_.finish();
    const Clock pause;
    pause_for_work(validates, saves);
    updater_.window().clock.leave_out(pause);  // words/s counts training time only
  }
  if (o.disp_freq.count > 0) report(stopping);
  return true;
}

// Reports the updates since the last report, if there are any.
void Trainer::report(const Stopping& stopping) {
  updater_.finish();
  if (updater_.window().target_tokens == 0) return;
  log_.announce(progress_.moment(), report_of(updater_.window(), updater_.rate(), stopping, progress_));
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
// run may have to roll back to the last one.
void Trainer::pause_for_work(bool validation_due, bool saving_due) {
  if (validation_due)
    validate();
  else if (decide(control_.validate.exchange(false)))
    validate_on_request();
  if (saving_due || decide(control_.save.exchange(false))) save_due_ = true;
  if (!save_due_) return;
  updater_.finish();
  if (progress_.skipped_in_a_row > 0) return;
  save_due_ = false;
  try_save([&] { save(); });
}

bool Trainer::ended(const Stopping& stopping) const {
  return decide(stopping.reached(progress_) || control_.stop || stalled());
}

RunEnd::Reason Trainer::reason() const {
  if (control_.stop) return RunEnd::signal;
  return stalled() ? RunEnd::early_stopping : RunEnd::after;
}

// Rolls back once per run, and only to a checkpoint of this run. The rollback is saved in the state immediately, so
// that a run that is killed before its next checkpoint also resumes with the lower rate.
void Trainer::roll_back() {
  const int64_t updates = progress_.updates;
  const bool again = progress_.rollbacks > 0, nowhere = !resumes_ && saved_ < 0;
  if (again || nowhere)
    throw Error(fmt::format("training has diverged: {} updates in a row up to update {} were not finite{}; the first "
                            "tensor that is not finite: {}",
                            progress_.skipped_in_a_row, grouped(updates),
                            nowhere ? ", and there is no checkpoint to roll back to"
                                    : ", again after a rollback with half the learning rate",
                            updater_.first_nonfinite()),
                "lower --learn-rate or raise --lr-warmup; --check-nan finds the op where it starts");
  load_state(state_path(setup_.training.model), run_state(), setup_.model, order_);
  progress_.skipped_in_a_row = 0;
  ++progress_.rollbacks;
  try_save([&] {
    together(ranks_, [&] { save_state(state_path(setup_.training.model), run_state(), setup_.model, order_); });
  });
  log_.announce(progress_.moment(), RunRollback{updates, progress_.rate_factor(), updater_.first_nonfinite()});
}

bool Trainer::stalled() const {
  const int64_t patience = setup_.training.early_stopping;
  return patience > 0 && progress_.stalled >= patience;
}

// Measures with the smoothed weights. Does not change the progress.
RunValidation Trainer::measure() {
  const Smoothed smoothed(updater_.average());
  const auto values = validation_.measure(backend_, arena_, *model_, progress_, unwritten_, ranks_);
  RunValidation validation;
  for (size_t m = 0; m < values.size(); ++m) {
    if (!values[m]) continue;
    validation.figures.push_back(compared(setup_.training.valid_metrics[m], *values[m], progress_.best));
    validation.figures.back().decides = m == 0;
  }
  return validation;
}

void Trainer::validate() {
  updater_.finish();
  if (!validation_.exists()) return;
  RunValidation validation = measure();
  for (const auto& figure : validation.figures) {
    if (figure.better) progress_.best[figure.metric] = figure.value;
    if (figure.decides) progress_.stalled = figure.better ? 0 : progress_.stalled + 1;
  }
  validation.stalled = progress_.stalled;
  log_.announce(progress_.moment(), validation);
  for (const auto& figure : validation.figures) keep_if_best(figure);
}

// A requested validation does not affect early stopping or the best model, so the run continues as if it had not
// happened.
void Trainer::validate_on_request() {
  if (!validation_.exists()) return log_warning("SIGUSR2 requests a validation, but there are no --valid-sets");
  updater_.finish();
  RunValidation validation = measure();
  validation.stalled = progress_.stalled;
  validation.requested = true;
  log_.announce(progress_.moment(), validation);
}

// Writing the best model of a metric may have failed. Then the next best one is written if it beats the model in the
// file.
void Trainer::keep_if_best(const RunValidation::Figure& figure) {
  const ValidMetric metric = *from_name<ValidMetric>(figure.metric);
  if (!decide(compared(metric, figure.value, progress_.kept).better)) return;
  const auto keep = [&] {
    together(ranks_, [&] {
      const Smoothed smoothed(updater_.average());
      write_model(best_path(setup_.training.model, figure.metric));
    });
    progress_.kept[figure.metric] = figure.value;
  };
  const std::string output = fmt::format("--keep-best ({})", figure.metric);
  if (setup_.training.keep_best) {
    if (const std::string failure = try_save(keep); !failure.empty())
      unwritten_.add(output, failure);
    else if (figure.better)
      unwritten_.forget(output);
  } else if (figure.better)
    progress_.kept[figure.metric] = figure.value;
}

void Trainer::write_model(const std::string& path) const {
  if (!leads()) return;
  save_model(path, setup_.model, vocabularies_, weights_of(model_->parameters()), trained_);
}

// The reason of the failure; empty if it succeeded.
std::string Trainer::try_save(const std::function<void()>& save) {
  try {
    save();
    return "";
  } catch (const RankLost&) {
    throw;
  } catch (const Error& error) {
    log_.announce(progress_.moment(), RunSave{setup_.training.model, error.what()});
    return error.what();
  }
}

// A killed run resumes from the state alone. The numbered checkpoint is written before the state: a run killed between
// them resumes from the previous state and writes both again. The model is written after the state: if the run is
// killed between them, the next save, at the latest that at its end, writes it.
void Trainer::save() {
  updater_.finish();
  const TrainingOptions& o = setup_.training;
  if (const std::string bad = first_bad_weight(backend_, arena_, model_->parameters()); !bad.empty())
    fail("{} is not finite", bad);
  const auto write = [&](const std::string& path) {
    const Smoothed smoothed(updater_.average());
    write_model(path);
  };
  if (o.keep_last > 0)
    together(ranks_, [&] { leads() ? save_numbered(o.model, progress_.updates, o.keep_last, write) : write(o.model); });
  together(ranks_, [&] { save_state(state_path(o.model), run_state(), setup_.model, order_); });
  together(ranks_, [&] { write(o.model); });
  saved_ = progress_.updates;
  made_.keep();
  log_.announce(progress_.moment(), RunSave{o.model, ""});
}

}  // namespace dragoman
