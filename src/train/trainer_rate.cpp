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

// What has reduced the rate: "1 rollback, --lr-decay".
std::string reducers(const Progress& progress) {
  if (progress.rollbacks == 0) return "--lr-decay";
  return counted(progress.rollbacks, "rollback") + (progress.decayed != 1 ? ", --lr-decay" : "");
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

// Rollbacks and decays reduce the rate of the call in which they happen: a different --learn-rate is used unchanged.
void Trainer::resume_rate() {
  Progress& p = progress_;
  const double rate = setup_.optimizer.learn_rate;
  if (p.rate_factor() == 1) return;
  if (p.reduced_rate == 0) p.reduced_rate = rate;  // a state of an older version
  const std::string factor = fmt::format("multiplied by {:.4g} ({})", p.rate_factor(), reducers(p));
  if (p.reduced_rate == rate)
    return log(p.rollbacks > 0 ? LogLevel::warning : LogLevel::info,
               "the learning rate is --learn-rate {}; a different --learn-rate would be used unchanged",
               fmt::make_format_args(factor));
  log_info("--learn-rate was {} and is {} now: it is no longer {}", p.reduced_rate, rate, factor);
  p.rollbacks = 0;
  p.decayed = 1;
  p.reduced_rate = 0;
}

}  // namespace dragoman
