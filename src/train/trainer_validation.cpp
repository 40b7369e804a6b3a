#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

// Compares a value with the best of its metric so far.
RunValidation::Figure compared(ValidMetric metric, double value, const std::map<std::string, double>& best) {
  RunValidation::Figure figure{.metric = std::string(name_of(metric)), .value = value};
  const auto found = best.find(figure.metric);
  figure.any_best = found != best.end();
  if (figure.any_best) figure.best = found->second;
  figure.better = beats(metric, value, best);
  return figure;
}

// Whether the improvement is large enough for early stopping.
bool improves(const RunValidation::Figure& figure, double epsilon) {
  return figure.better && (!figure.any_best || std::abs(figure.value - figure.best) > epsilon);
}

std::vector<std::string> names_of(const std::vector<ValidMetric>& metrics) {
  std::vector<std::string> names;
  for (const ValidMetric metric : metrics) names.emplace_back(name_of(metric));
  return names;
}

}  // namespace

// Measures with the smoothed weights. Does not change the progress.
RunValidation Trainer::measure() {
  const Smoothed smoothed(updater_.average());
  const auto values = validation_.measure({backend_, arena_, *model_, updater_.rows()}, progress_, unwritten_, ranks_);
  const TrainingOptions& o = setup_.training;
  RunValidation validation;
  for (size_t m = 0; m < values.size(); ++m) {
    if (!values[m]) continue;
    auto& figure = validation.figures.emplace_back(compared(o.valid_metrics[m], *values[m], progress_.best));
    const double epsilon =
        o.early_stopping_epsilon.size() == 1 ? o.early_stopping_epsilon[0] : o.early_stopping_epsilon[m];
    const auto stalled = progress_.stalled.find(figure.metric);
    if (!improves(figure, epsilon)) figure.stalled = 1 + (stalled == progress_.stalled.end() ? 0 : stalled->second);
  }
  return validation;
}

void Trainer::validate() {
  updater_.finish();
  if (!validation_.exists()) return;
  RunValidation validation = measure();
  for (const auto& figure : validation.figures) {
    if (figure.better) progress_.best[figure.metric] = figure.value;
    progress_.stalled[figure.metric] = figure.stalled;
    progress_.measured[figure.metric] = validation_.fingerprint(metric_of(figure));
  }
  progress_.validated = progress_.updates;
  validation.stalled = stalled().validations;
  progress_.most_stalled = std::max(progress_.most_stalled, validation.stalled);
  log_.announce(progress_.moment(), validation);
  for (const auto& figure : validation.figures)
    kept_.keep_best(figure, [&](const std::string& path) { write_smoothed(path); });
}

// A requested validation does not affect early stopping or the best model, so the run continues as if it had not
// happened.
void Trainer::validate_on_request() {
  if (!validation_.exists()) return log_warning("SIGUSR2 requests a validation, but there are no --valid-sets");
  updater_.finish();
  RunValidation validation = measure();
  validation.stalled = stalled().validations;
  validation.requested = true;
  log_.announce(progress_.moment(), validation);
}

// The last model of a run is measured too. Only what the best models are enters the state, as the next call may
// continue the run.
void Trainer::validate_at_end() {
  if (setup_.training.valid_freq.count <= 0 || progress_.validated == progress_.updates) return;
  Progress before = progress_;
  validate();
  const bool keeps = setup_.training.keep_best > 0 && progress_.kept != before.kept;
  if (keeps) {
    before.kept = progress_.kept;
    before.measured = progress_.measured;
  }
  progress_ = before;
  if (keeps) save_state();
}

// Validations in a row without improvement of the metrics that --early-stopping-on names.
Stalled Trainer::stalled() const {
  const TrainingOptions& o = setup_.training;
  return stalled_on(o.early_stopping_on, names_of(o.valid_metrics), progress_.stalled);
}

bool Trainer::decides(ValidMetric metric) const {
  const TrainingOptions& o = setup_.training;
  return o.early_stopping_on != StoppingOn::first || metric == o.valid_metrics[0];
}

// A metric that this call does not measure has no validations in a row.
void Trainer::forget_other_metrics() {
  const auto names = names_of(setup_.training.valid_metrics);
  if (const auto unnamed = progress_.stalled.extract(""); !unnamed.empty())  // a state of an older version
    progress_.stalled[names[0]] = unnamed.mapped();
  std::erase_if(progress_.stalled, [&](const auto& entry) { return std::ranges::count(names, entry.first) == 0; });
}

// Figures of another metric, of another validation text or of another search cannot be compared with those of this
// call. Where the last validation had such figures, that of this call is still to be made.
void Trainer::forget_incomparable() {
  if (!validation_.exists()) return;
  forget_other_metrics();
  for (const ValidMetric metric : setup_.training.valid_metrics) {
    const std::string name(name_of(metric)), now = validation_.fingerprint(metric);
    const auto best = progress_.best.find(name), kept = progress_.kept.values.find(name);
    if (best == progress_.best.end() && kept == progress_.kept.values.end()) continue;  // nor are there kept updates
    std::string& measured = progress_.measured[name];
    if (measured.empty()) measured = now;  // a state of an older version
    if (measured == now) continue;
    log_warning("the validation text or the options of {} have changed: its best value so far, {:.6g}, is forgotten{}",
                name, best == progress_.best.end() ? kept->second : best->second,
                progress_.stalled.erase(name) > 0 ? ", with the number of its stalled validations" : "");
    if (decides(metric)) progress_.most_stalled = stalled().validations;
    progress_.best.erase(name);
    kept_.forget(name);
    progress_.measured.erase(name);
  }
  const auto measured_as_now = [&](ValidMetric metric) {
    const auto measured = progress_.measured.find(std::string(name_of(metric)));
    return measured != progress_.measured.end() && measured->second == validation_.fingerprint(metric);
  };
  if (!std::ranges::all_of(setup_.training.valid_metrics, measured_as_now)) progress_.validated = 0;
}

}  // namespace dragoman
