#include <algorithm>
#include <filesystem>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/threads.h"
#include "comm/agreement.h"
#include "train/not_finite.h"
#include "train/pretrained.h"
#include "train/trainer.h"

namespace dragoman {

CheckpointSize Trainer::checkpoint() const {
  return checkpoint_size(model_->parameters(), vocabularies_, setup_.optimizer.exponential_smoothing > 0);
}

RunState Trainer::run_state() {
  const int shards = setup_.training.gradient_shards;
  const std::string parts = shards > 1 ? fmt::format("{} gradient shards", shards)
                                       : fmt::format("{} thread{}", thread_count(), thread_count() == 1 ? "" : "s");
  const TrainingPrecision precision = setup_.training.precision;
  const std::string activations =
      setup_.training.half_activations ? fmt::format(", activations in {}", name_of(precision)) : "";
  return {model_->parameters(),
          updater_.adam(),
          updater_.average(),
          progress_,
          model_->baseline(),
          updater_.ownership(),
          fmt::format("{}, {}{}", parts, backend_.arithmetic, activations),
          precision};
}

void Trainer::begin() {
  kept_.begin();
  progress_.loss_scale = LossScale::at_first(setup_.training.precision);
  count_longest(longest_);
  const std::string& pretrained = setup_.training.pretrained_model;
  if (pretrained.empty()) return;
  count_longest(load_pretrained(pretrained, model_->parameters(), vocabularies_, setup_.data.vocabs));
  if (updater_.average()) updater_.average()->restart();
}

void Trainer::begin_or_resume() {
  if (!resumes_) return begin();
  load();
  log_info("Resuming from {}: update {}, epoch {}", state_path(setup_.training.model), grouped(progress_.updates),
           progress_.epoch());
  if (const auto& stream = corpus_->files.stream) {
    if (const int64_t parts = progress_.position.epoch - progress_.stream_begin; parts > 0)
      log_info("Skipping text that the run has already trained on: {} of {} lines", counted(parts, "part"),
               grouped(stream->part_lines));
  }
  resume_rate();
  forget_incomparable();
  kept_.resume();
  if (stops_early())
    log_info("Early stopping has ended this run: a higher --early-stopping or --valid-reset-stalled resumes it");
}

// What this call does not restore, it does not restore in a rollback either, until it has saved a state of its own.
void Trainer::load() {
  const TrainingOptions& o = setup_.training;
  Restore restore;
  if (saved_ < 0) restore = {.corpus = !o.no_restore_corpus, .optimizer = !o.no_optimizer_reload};
  load_state(state_path(o.model), run_state(), setup_.model, order_, restore);
  const bool older = progress_.longest.source == 0 && progress_.longest.target == 0;  // a state of an older version
  try {
    if (older && std::filesystem::exists(o.model)) count_longest(ModelFile(o.model).trained());
  } catch (const Error&) {  // the state is enough to resume
  }
  count_longest(longest_);
  const auto& stream = corpus_->files.stream;
  if (stream && saved_ < 0 && stream->first_epoch != progress_.stream_begin)  // before anything else reads it
    stream->first_epoch = progress_.stream_begin;
  progress_.stream_begin = stream ? stream->first_epoch : 0;
  if (saved_ < 0 && o.valid_reset_stalled) progress_.stalled.clear(), progress_.most_stalled = 0;
}

void Trainer::count_longest(const TrainedLengths& trained) {
  TrainedLengths& longest = progress_.longest;
  longest = {std::max(longest.source, trained.source), std::max(longest.target, trained.target)};
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
  const Progress before = progress_;
  load();
  if (corpus_->files.stream)  // what came since the checkpoint cannot be read again
    progress_.position = before.position, progress_.epoch_sentences = before.epoch_sentences;
  progress_.skipped_in_a_row = 0;
  if (progress_.reduced_rate != setup_.optimizer.learn_rate) progress_.decayed = 1;  // the state is of an earlier call
  progress_.rollbacks = 1;
  progress_.reduced_rate = setup_.optimizer.learn_rate;
  save_due_ = numbered_due_ = false;
  forget_incomparable();
  kept_.roll_back(before.kept);
  try_save([&] { save_state(); });
  log_.announce(progress_.moment(), RunRollback{updates, progress_.rate_factor(), updater_.first_nonfinite()});
}

void Trainer::try_save(const std::function<void()>& save) {
  if (const std::string failure = failure_of(save); !failure.empty())
    log_.announce(progress_.moment(), RunSave{setup_.training.model, failure});
}

// A killed run resumes from the state alone. The numbered checkpoint is written before the state: a run killed between
// them resumes from the previous state and writes both again. On a full disk it gives way to the state and the model.
void Trainer::save(bool numbered) {
  updater_.finish();
  if (const std::string bad = first_bad_weight(backend_, arena_, model_->parameters()); !bad.empty())
    fail("{} is not finite", bad);
  if (!numbered || !kept_.keep_last([&](const std::string& path) { write_smoothed(path); })) {
    save_state_and_model();
  } else if (const std::string failure = failure_of([&] { save_state_and_model(); }); !failure.empty()) {
    kept_.give_up_last(failure);
    save_state_and_model();
  }
  saved_ = progress_.updates;
  saved_position_ = progress_.position;
  made_.keep();
  log_.announce(progress_.moment(), RunSave{setup_.training.model, ""});
}

// A stop by a signal leaves the numbered checkpoints as they would be without it.
void Trainer::save_at_end(bool completed) {
  const bool numbered = completed || numbered_due_;
  const bool saved = saved_ == progress_.updates && saved_position_ == progress_.position;
  if (!saved || (numbered && !kept_.has_last())) save(numbered);
}

// The model is written after the state: if the run is killed between them, the next save, at the latest that at its
// end, writes it.
void Trainer::save_state_and_model() {
  const std::string& model = setup_.training.model;
  save_state();
  together(ranks_, [&] { write_smoothed(model); });
}

void Trainer::save_state() {
  together(ranks_, [&] { dragoman::save_state(state_path(setup_.training.model), run_state(), setup_.model, order_); });
}

// All ranks call it, rank 0 writes.
void Trainer::write_smoothed(const std::string& path) {
  const Smoothed smoothed(updater_.average());
  if (leads()) save_model(path, setup_.model, vocabularies_, weights_of(model_->parameters()), progress_.longest);
}

}  // namespace dragoman
