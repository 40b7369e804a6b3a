#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/log.h"
#include "comm/agreement.h"
#include "train/destination.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

ValidMetric metric_of(const RunValidation::Figure& figure) { return *from_name<ValidMetric>(figure.metric); }

bool better(ValidMetric metric, double a, double b) { return rises(metric) ? a > b : a < b; }

// Compares a value with the best of its metric so far. A non-finite value is never better.
RunValidation::Figure compared(ValidMetric metric, double value, const std::map<std::string, double>& best) {
  RunValidation::Figure figure{.metric = std::string(name_of(metric)), .value = value};
  const auto found = best.find(figure.metric);
  figure.any_best = found != best.end();
  if (figure.any_best) figure.best = found->second;
  const bool beats = !figure.any_best || better(metric, value, figure.best);
  figure.better = std::isfinite(value) && beats;
  return figure;
}

// Whether the improvement is large enough for early stopping.
bool improves(const RunValidation::Figure& figure, double epsilon) {
  return figure.better && (!figure.any_best || std::abs(figure.value - figure.best) > epsilon);
}

// The update with the worst value; the last one of several.
std::map<int64_t, double>::const_iterator worst(const std::map<int64_t, double>& updates, ValidMetric metric) {
  auto found = updates.begin();
  for (auto update = updates.begin(); update != updates.end(); ++update)
    if (!better(metric, update->second, found->second)) found = update;
  return found;
}

void warn_of_others(const std::map<int64_t, std::string>& files, const std::string& kept) {
  if (files.empty()) return;
  const size_t more = files.size() - 1;
  log_warning("{}{} not among {}: leave {} out when you average those, or remove {}", files.begin()->second,
              more > 0 ? fmt::format(" and {} more {} like it are", more, more > 1 ? "files" : "file") : " is", kept,
              more > 0 ? "them" : "it", more > 0 ? "them" : "it");
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
    if (figure.better) {
      progress_.best[figure.metric] = figure.value;
      progress_.measured[figure.metric] = validation_.fingerprint(metric_of(figure));
    }
    progress_.stalled[figure.metric] = figure.stalled;
  }
  validated_ = progress_.updates;
  validation.stalled = stalled().validations;
  progress_.most_stalled = std::max(progress_.most_stalled, validation.stalled);
  log_.announce(progress_.moment(), validation);
  for (const auto& figure : validation.figures) {
    keep_if_best(figure);
    keep_among_best(figure);
  }
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
  if (setup_.training.valid_freq.count <= 0 || validated_ == progress_.updates) return;
  Progress before = progress_;
  validate();
  const bool keeps =
      setup_.training.keep_best > 0 && (progress_.kept != before.kept || progress_.kept_updates != before.kept_updates);
  if (keeps) {
    before.kept = progress_.kept;
    before.kept_updates = progress_.kept_updates;
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
// call.
void Trainer::forget_incomparable() {
  if (!validation_.exists()) return;
  forget_other_metrics();
  for (const ValidMetric metric : setup_.training.valid_metrics) {
    const std::string name(name_of(metric)), now = validation_.fingerprint(metric);
    const auto best = progress_.best.find(name), kept = progress_.kept.find(name);
    if (best == progress_.best.end() && kept == progress_.kept.end()) continue;  // nor are there kept updates
    std::string& measured = progress_.measured[name];
    if (measured.empty()) measured = now;  // a state of an older version
    if (measured == now) continue;
    log_warning("the validation text or the options of {} have changed: its best value so far, {:.6g}, is forgotten{}",
                name, best == progress_.best.end() ? kept->second : best->second,
                progress_.stalled.erase(name) > 0 ? ", with the number of its stalled validations" : "");
    if (decides(metric)) progress_.most_stalled = stalled().validations;
    progress_.best.erase(name);
    progress_.kept.erase(name);
    progress_.kept_updates.erase(name);
    progress_.measured.erase(name);
  }
}

// Writing the best model of a metric may have failed. Then the next best one is written if it beats the model in the
// file.
void Trainer::keep_if_best(const RunValidation::Figure& figure) {
  if (!decide(compared(metric_of(figure), figure.value, progress_.kept).better)) return;
  const std::string path = best_path(setup_.training.model, figure.metric);
  const auto keep = [&] {
    write_best(path, {});
    progress_.kept[figure.metric] = figure.value;
  };
  const std::string output = fmt::format("--keep-best ({})", figure.metric);
  if (setup_.training.keep_best > 0) {
    if (const std::string failure = try_save(path, keep); !failure.empty())
      unwritten_.add(output, failure);
    else if (figure.better)
      unwritten_.forget(output);
  } else if (figure.better)
    progress_.kept[figure.metric] = figure.value;
}

// On a full disk it gives way to the state and the model, which the run needs to resume. `replaced` are removed once it
// is written, as is what the path names now.
void Trainer::write_best(const std::string& path, std::vector<std::string> replaced) {
  together(ranks_, [&] {
    replaced.push_back(path);
    if (leads()) require_space_beside(setup_.training.model, checkpoint(), replaced);
  });
  together(ranks_, [&] { write_smoothed(path); });
}

// --keep-best N. Only files that this run has written are removed, and only when the better one is there. A run that is
// killed before it saves its state resumes before this validation, repeats it, and decides alike: see forget_missing().
void Trainer::keep_among_best(const RunValidation::Figure& figure) {
  const TrainingOptions& o = setup_.training;
  const ValidMetric metric = metric_of(figure);
  if (o.keep_best <= 1 || metric != o.valid_metrics[0] || !std::isfinite(figure.value)) return;
  std::map<int64_t, double> updates;
  if (const auto kept = progress_.kept_updates.find(figure.metric); kept != progress_.kept_updates.end())
    updates = kept->second;
  const auto [same, first] = updates.emplace(progress_.updates, figure.value);
  const bool replaces = !first && better(metric, figure.value, same->second);  // after a rollback
  if (replaces) same->second = figure.value;
  std::vector<int64_t> removed;
  for (; std::ssize(updates) > o.keep_best; updates.erase(removed.back()))
    removed.push_back(worst(updates, metric)->first);
  const auto path = [&](int64_t update) { return best_path(o.model, figure.metric, update); };
  if (decide((first || replaces) && updates.contains(progress_.updates))) {
    const std::string output = fmt::format("--keep-best {} ({})", o.keep_best, figure.metric);
    std::vector<std::string> replaced;
    for (const int64_t update : removed) replaced.push_back(path(update));
    const auto write = [&] { write_best(path(progress_.updates), replaced); };
    if (const std::string failure = try_save(path(progress_.updates), write); !failure.empty()) {
      if (!unkept_ || better(metric, figure.value, *unkept_)) unkept_ = figure.value;
      return unwritten_.add(output, failure);
    }
    if (unkept_ && std::ssize(updates) == o.keep_best && !better(metric, *unkept_, worst(updates, metric)->second))
      unwritten_.forget(output), unkept_.reset();
  }
  if (first) std::erase(removed, progress_.updates);
  if (leads())
    for (const int64_t update : removed) remove_checkpoint(path(update));
  progress_.kept_updates[figure.metric] = updates;
}

// Files of --keep-best that the user has removed; of N also those that this run removed after it saved the state that
// names them, which were worse than N others that it writes again.
void Trainer::forget_missing() {
  const TrainingOptions& o = setup_.training;
  if (o.keep_best == 0) return;
  std::erase_if(progress_.kept, [&](const auto& kept) {
    const std::string path = best_path(o.model, kept.first);
    const bool missing = !decide(std::filesystem::exists(path));
    if (missing && leads()) log_warning("{} is not there: --keep-best keeps the best from now on", path);
    return missing;
  });
  if (o.keep_best == 1) return;
  for (auto& of_metric : progress_.kept_updates)
    std::erase_if(of_metric.second, [&](const auto& kept) {
      return !decide(std::filesystem::exists(best_path(o.model, of_metric.first, kept.first)));
    });
}

// They would be averaged with those of this run.
void Trainer::warn_of_other_numbered() const {
  const TrainingOptions& o = setup_.training;
  if (o.keep_last == 0 || !leads()) return;
  auto others = files_of_updates(o.model);
  std::erase_if(others, [&](const auto& file) {
    return file.first <= progress_.updates && !numbered_before_.contains(file.first);
  });
  warn_of_others(others, fmt::format("the last {} checkpoints of this run", o.keep_last));
}

void Trainer::warn_of_other_best() const {
  const TrainingOptions& o = setup_.training;
  if (o.keep_best <= 1 || !leads()) return;
  const std::string metric(name_of(o.valid_metrics[0]));
  auto others = files_of_updates(o.model, metric);
  if (const auto kept = progress_.kept_updates.find(metric); kept != progress_.kept_updates.end())
    for (const auto& [update, value] : kept->second) others.erase(update);
  warn_of_others(others, fmt::format("the {} best checkpoints of this run by {}", o.keep_best, metric));
}

}  // namespace dragoman
