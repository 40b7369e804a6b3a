#include "train/kept_checkpoints.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/grouped.h"
#include "base/log.h"
#include "comm/agreement.h"
#include "train/destination.h"
#include "train/validation.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// The update with the worst value; the last one of several.
std::map<int64_t, double>::const_iterator worst(const std::map<int64_t, double>& updates, ValidMetric metric) {
  auto found = updates.begin();
  for (auto update = updates.begin(); update != updates.end(); ++update)
    if (!better(metric, update->second, found->second)) found = update;
  return found;
}

void warn_of_files(const std::map<int64_t, std::string>& files, const std::string& kept) {
  if (files.empty()) return;
  const size_t more = files.size() - 1;
  log_warning("{}{} not among {}: leave {} out when you average those, or remove {}", files.begin()->second,
              more > 0 ? fmt::format(" and {} more {} like it are", more, more > 1 ? "files" : "file") : " is", kept,
              more > 0 ? "them" : "it", more > 0 ? "them" : "it");
}

// Logs a warning if a file that exists cannot be removed.
void remove_checkpoint(const std::string& path) {
  std::error_code failed;
  if (fs::remove(path, failed); failed) log_warning("{} cannot be removed: {}", path, failed.message());
}

// How many files a run may keep at a time beside its model.
int64_t most_kept(const TrainingOptions& o) {
  const int64_t best_models = o.keep_best > 0 ? std::ssize(o.valid_metrics) : 0;
  return o.keep_last + best_models + (o.keep_best > 1 ? o.keep_best : 0);
}

}  // namespace

KeptCheckpoints::KeptCheckpoints(const TrainingOptions& options, CheckpointSize size, Communicator& ranks,
                                 Progress& progress, RunLog& log, Unwritten& unwritten)
    : options_(options), size_(size), ranks_(ranks), progress_(progress), log_(log), unwritten_(unwritten) {}

void KeptCheckpoints::begin() {
  if (options_.keep_last == 0 || !leads()) return;
  for (const auto& [update, path] : files_of_updates(options_.model)) numbered_before_.insert(update);
}

// Of N best, also those are missing that this run removed after it saved the state that names them: they were worse
// than N others, which it writes again.
void KeptCheckpoints::resume() {
  if (options_.keep_best == 0) return;
  std::erase_if(progress_.kept.values, [&](const auto& kept) {
    const std::string path = best_path(options_.model, kept.first);
    const bool missing = !decide(fs::exists(path));
    if (missing && leads()) log_warning("{} is not there: --keep-best keeps the best from now on", path);
    return missing;
  });
  if (options_.keep_best == 1) return;
  for (auto& of_metric : progress_.kept.updates)
    std::erase_if(of_metric.second, [&](const auto& kept) {
      return !decide(fs::exists(best_path(options_.model, of_metric.first, kept.first)));
    });
}

void KeptCheckpoints::roll_back(const KeptBest& kept) {
  if (options_.keep_best > 0) progress_.kept = kept;
}

void KeptCheckpoints::forget(const std::string& metric) {
  progress_.kept.values.erase(metric);
  progress_.kept.updates.erase(metric);
}

bool KeptCheckpoints::keep_last(const Save& save) {
  if (options_.keep_last == 0) return false;
  std::vector<std::string> outdated;
  if (leads()) outdated = outdated_by(progress_.updates, options_.model, options_.keep_last, numbered_before_);
  const std::string failure = write(numbered_path(options_.model, progress_.updates), outdated, save);
  last_ = progress_.updates;
  if (!failure.empty()) {
    miss_last(failure);
    return false;
  }
  for (const std::string& path : outdated) remove_checkpoint(path);
  numbered_before_.erase(progress_.updates);
  unwritten_.forget("--keep-last");
  return true;
}

void KeptCheckpoints::give_up_last(const std::string& failure) {
  std::error_code ignored;
  if (leads()) fs::remove(numbered_path(options_.model, progress_.updates), ignored);
  miss_last(failure);
}

void KeptCheckpoints::miss_last(const std::string& failure) {
  log_warning("update {}: no numbered checkpoint was kept, and training continues: {}", grouped(progress_.updates),
              failure);
  unwritten_.add("--keep-last", failure);
}

void KeptCheckpoints::keep_best(const RunValidation::Figure& figure, const Save& save) {
  keep_best_model(figure, save);
  keep_among_best(figure, save);
}

// Writing the best model of a metric may have failed. Then the next best one is written if it beats the model in the
// file.
void KeptCheckpoints::keep_best_model(const RunValidation::Figure& figure, const Save& save) {
  auto& values = progress_.kept.values;  // of files, which this call may not write
  if (options_.keep_best == 0 || !decide(beats(metric_of(figure), figure.value, values))) return;
  const std::string output = fmt::format("--keep-best ({})", figure.metric);
  if (const std::string failure = write_best(best_path(options_.model, figure.metric), {}, save); !failure.empty())
    return unwritten_.add(output, failure);
  values[figure.metric] = figure.value;
  if (figure.better) unwritten_.forget(output);
}

// A run that is killed before it saves its state resumes before this validation, repeats it, and decides alike: see
// resume().
void KeptCheckpoints::keep_among_best(const RunValidation::Figure& figure, const Save& save) {
  const ValidMetric metric = metric_of(figure);
  if (options_.keep_best <= 1 || metric != options_.valid_metrics[0] || !std::isfinite(figure.value)) return;
  std::map<int64_t, double> updates;
  if (const auto kept = progress_.kept.updates.find(figure.metric); kept != progress_.kept.updates.end())
    updates = kept->second;
  const auto [same, first] = updates.emplace(progress_.updates, figure.value);
  const bool replaces = !first && better(metric, figure.value, same->second);  // after a rollback
  if (replaces) same->second = figure.value;
  std::vector<int64_t> removed;
  for (; std::ssize(updates) > options_.keep_best; updates.erase(removed.back()))
    removed.push_back(worst(updates, metric)->first);
  const auto path = [&](int64_t update) { return best_path(options_.model, figure.metric, update); };
  if (decide((first || replaces) && updates.contains(progress_.updates))) {
    const std::string output = fmt::format("--keep-best {} ({})", options_.keep_best, figure.metric);
    std::vector<std::string> replaced;
    for (const int64_t update : removed) replaced.push_back(path(update));
    if (const std::string failure = write_best(path(progress_.updates), replaced, save); !failure.empty()) {
      if (!unkept_ || better(metric, figure.value, *unkept_)) unkept_ = figure.value;
      return unwritten_.add(output, failure);
    }
    if (unkept_ && std::ssize(updates) == options_.keep_best &&
        !better(metric, *unkept_, worst(updates, metric)->second))
      unwritten_.forget(output), unkept_.reset();
  }
  if (first) std::erase(removed, progress_.updates);
  if (leads())
    for (const int64_t update : removed) remove_checkpoint(path(update));
  progress_.kept.updates[figure.metric] = updates;
}

std::string KeptCheckpoints::write_best(const std::string& path, const std::vector<std::string>& replaced,
                                        const Save& save) {
  const std::string failure = write(path, replaced, save);
  if (!failure.empty()) log_.announce(progress_.moment(), RunSave{path, failure});
  return failure;
}

// Returns why it failed; empty: it did not. On a full disk it gives way to the state and the model, which the run needs
// to resume. `replaced` are removed once it is written, as is what the path names now.
std::string KeptCheckpoints::write(const std::string& path, std::vector<std::string> replaced, const Save& save) {
  return failure_of([&] {
    together(ranks_, [&] {
      replaced.push_back(path);
      if (leads()) require_space_beside(options_.model, size_, replaced);
    });
    together(ranks_, [&] { save(path); });
  });
}

void KeptCheckpoints::warn_of_others() const {
  if (!leads()) return;
  if (options_.keep_best > 1) {
    const std::string metric(name_of(options_.valid_metrics[0]));
    auto others = files_of_updates(options_.model, metric);
    if (const auto kept = progress_.kept.updates.find(metric); kept != progress_.kept.updates.end())
      for (const auto& [update, value] : kept->second) others.erase(update);
    warn_of_files(others, fmt::format("the {} best checkpoints of this run by {}", options_.keep_best, metric));
  }
  if (options_.keep_last > 0) {
    auto others = files_of_updates(options_.model);
    std::erase_if(others, [&](const auto& file) {
      return file.first <= progress_.updates && !numbered_before_.contains(file.first);
    });
    warn_of_files(others, fmt::format("the last {} checkpoints of this run", options_.keep_last));
  }
}

void require_room(const TrainingOptions& o, CheckpointSize size) {
  const int64_t available = free_space(o.model);
  require_space(o.model, size, available);
  const int64_t more = most_kept(o);
  if (const int64_t all = space_to_save(o.model, size) + more * size.model; more > 0 && all > available)
    log_warning(
        "--keep-last {}, --keep-best {} and the other files of the run need up to {} MiB more, but the disk of {} has "
        "{} MiB free",
        o.keep_last, o.keep_best, mebibytes(all), o.model, available >> 20);
}

std::vector<std::string> outdated_by(int64_t update, const std::string& model_path, int64_t keep,
                                     const std::set<int64_t>& of_others) {
  auto numbered = files_of_updates(model_path);
  numbered.erase(numbered.lower_bound(update), numbered.end());
  std::erase_if(numbered, [&](const auto& file) { return of_others.contains(file.first); });
  std::vector<std::string> outdated;
  for (; std::ssize(numbered) >= keep && !numbered.empty(); numbered.erase(numbered.begin()))
    outdated.push_back(numbered.begin()->second);
  return outdated;
}

}  // namespace dragoman
