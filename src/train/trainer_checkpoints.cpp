#include <filesystem>

#include "backend/backend.h"
#include "base/grouped.h"
#include "base/log.h"
#include "base/threads.h"
#include "comm/agreement.h"
#include "train/destination.h"
#include "train/not_finite.h"
#include "train/pretrained.h"
#include "train/trainer.h"

namespace dragoman {

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
  if (!resumes(setup_, vocabularies_)) return begin();
  const std::string state = state_path(setup_.training.model);
  load_state(state, run_state(), setup_.model, order_,
             {.corpus = !setup_.training.no_restore_corpus, .optimizer = !setup_.training.no_optimizer_reload});
  resumes_ = true;
  log_info("Resuming from {}: update {}, epoch {}", state, grouped(progress_.updates), progress_.epoch());
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
