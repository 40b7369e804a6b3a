#include "base/grouped.h"
#include "base/log.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

std::string reason_of(DecayCause cause, const Stalled& stalled, const Progress& progress) {
  switch (cause) {
    case DecayCause::stalled:
      return fmt::format("no improvement of {} for {}", stalled.metric, counted(stalled.validations, "validation"));
    case DecayCause::epoch:
      return fmt::format("the end of epoch {}", progress.position.epoch);
    case DecayCause::batches:
      return fmt::format("update {}", grouped(progress.updates));
  }
  return "";
}

}  // namespace

DecayPoint Trainer::decay_point() const {
  return {progress_.updates, progress_.position.epoch, stalled().validations, progress_.most_stalled};
}

// Comes after the validation of an update, and before it is saved, so that a resumed run does not repeat it.
void Trainer::decay_rate(const DecayPoint& before) {
  const RateDecayOptions& o = setup_.training;
  for (const DecayCause cause : decays_between(o, before, decay_point())) {
    progress_.decayed *= o.rate_decay;
    progress_.reduced_rate = setup_.optimizer.learn_rate;
    if (o.decay_resets_optimizer) {
      updater_.finish();
      updater_.adam().restart();
    }
    log_.announce(progress_.moment(), RunDecay{updater_.rate(), o.rate_decay, progress_.rate_factor(),
                                               reason_of(cause, stalled(), progress_)});
  }
}

// Rollbacks and decays reduce the rate of the call in which they happen: another --learn-rate is taken as it is.
void Trainer::resume_rate() {
  Progress& p = progress_;
  const double rate = setup_.optimizer.learn_rate;
  if (p.rate_factor() == 1) return;
  if (p.reduced_rate == 0) p.reduced_rate = rate;  // a state of an older version
  if (p.reduced_rate == rate && p.rollbacks > 0)
    return log_warning(
        "the learning rate is halved {} since a rollback: it is multiplied by {}; another --learn-rate "
        "is used as it is",
        counted(p.rollbacks, "time"), p.rate_factor());
  if (p.reduced_rate == rate)
    return log_info(
        "By --lr-decay, the learning rate is multiplied by {:.4g} so far; another --learn-rate is used as it is",
        p.decayed);
  log_info("--learn-rate was {} before the {} and is {} now: it is no longer {}", p.reduced_rate,
           p.rollbacks > 0 ? "rollback" : "decay", rate, p.rollbacks > 0 ? "halved" : "reduced");
  p.rollbacks = 0;
  p.decayed = 1;
  p.reduced_rate = 0;
}

}  // namespace dragoman
