#include "runlog/text_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "base/grouped.h"
#include "base/log.h"

namespace dragoman {
namespace {

std::string in_brackets(const std::string& first_nonfinite) {
  return first_nonfinite.empty() ? "" : fmt::format(" ({})", first_nonfinite);
}

void print(const RunMoment& now, const RunValidation& v) {
  for (const std::string& line : validation_lines(now, v)) log_info("{}", line);
}

void print(const RunMoment& now, const RunSave& save) {
  if (save.failure.empty())
    log_info("Saved {} (update {})", save.model, grouped(now.updates));
  else
    log_warning("update {} was not saved as {}; older files are kept, and training continues: {}", grouped(now.updates),
                save.model, save.failure);
}

void print(const RunMoment& now, const RunSkip& skip) {
  log_warning("update {} skipped: its loss or gradient is not finite{} ({} in a row, {} skipped so far)", now.updates,
              in_brackets(skip.first_nonfinite), skip.consecutive, skip.total);
}

void print(const RunMoment& now, const RunRollback& rollback) {
  log_warning(
      "rollback: updates up to {} were not finite{}; resuming from the checkpoint of update {}, with {} of the "
      "learning rate",
      grouped(rollback.from_update), in_brackets(rollback.first_nonfinite), grouped(now.updates), rollback.rate_factor);
}

void print(const RunMoment&, const RunDecay& decay) {
  log_info("Learning rate reduced to {:.4g} (×{:.4g}): {}", decay.learning_rate, decay.factor, decay.reason);
}

// "3 epochs", "0.4 epochs", "0.02 epochs": after an update, never 0 epochs.
std::string epochs_of(double epochs) {
  if (epochs == std::floor(epochs)) return counted(int64_t(epochs), "epoch");
  return epochs < 0.1 ? fmt::format("{:.1g} epochs", epochs) : fmt::format("{:.1f} epochs", epochs);
}

void print(const RunMoment& now, const RunEnd& end) {
  std::string what = "Training finished";
  if (end.reason == RunEnd::signal) what = "Stopped by a signal";
  if (end.reason == RunEnd::end_of_text) what += ": the text has ended,";
  if (end.reason == RunEnd::early_stopping)
    what += fmt::format(": {} without improvement,", counted(end.stalled, "validation"));
  log_info("{} after {}, {}", what, counted(now.updates, "update"), epochs_of(end.epochs));
}

void print(const RunMoment& now, const RunReport& report) { log_info("{}", report_line(now, report)); }

// The terminal may have closed since; a failing progress bar must not end the run.
void show(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

// The trainer has already logged what it is going to train.
void print(const RunMoment&, const RunStarted&) {}

}  // namespace

void TextLog::take(const RunMoment& now, const RunEvent& event) {
  bar_.clear();
  std::visit([&](const auto& e) { print(now, e); }, event);
}

namespace {

// Without the sign that a value which is no number may have.
std::string figure_of(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string remark_of(const RunValidation::Figure& f) {
  if (f.better) return f.stalled > 0 ? "new best, by no more than --early-stopping-epsilon" : "new best";
  const char* infinite = std::isfinite(f.value) ? "" : "not finite, ";
  return f.any_best ? fmt::format("{}last best: {:.6g}", infinite, f.best) : "not finite";
}

}  // namespace

std::vector<std::string> validation_lines(const RunMoment& now, const RunValidation& v) {
  std::vector<std::string> lines;
  for (const auto& f : v.figures) {
    std::string remark = remark_of(f);
    if (v.requested)
      remark = "requested, does not count";
    else if (f.stalled > 0)
      remark = fmt::format("stalled {} times ({})", f.stalled, remark);
    lines.push_back(fmt::format("[valid] Ep. {} : Up. {} : {} : {} : {}", now.epoch, now.updates, f.metric,
                                figure_of(f.value), remark));
  }
  return lines;
}

std::string grouped_seconds(double seconds) {
  const auto s = int64_t(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string report_line(const RunMoment& now, const RunReport& r) {
  std::string line = fmt::format(
      "Ep. {} : Up. {} : Sen. {} : Cost {:.8f} : Time {:.2f}s : {:.2f} words/s : gNorm {:.4f} : L.r. {:.4e}", now.epoch,
      now.updates, grouped(now.epoch_sentences), r.cost, r.seconds, r.words_per_second, r.gradient_norm,
      r.learning_rate);
  if (r.alignment_cost >= 0) line += fmt::format(" : Alignment {:.4f}", r.alignment_cost);
  if (r.remaining >= 0) line += " : ETA " + grouped_seconds(r.remaining);
  return line;
}

ProgressBar::ProgressBar(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) == 1) {}

void ProgressBar::draw(const RunMoment& now, const RunReport& r) {
  if (!shown_ || r.words_per_second <= 0 || now.seconds - last_ < 0.2) return;
  last_ = now.seconds;
  std::string bar;
  if (r.fraction_done >= 0) {
    const int full = int(r.fraction_done * 20);
    bar = "[";
    for (int i = 0; i < 20; ++i) bar += i < full ? "#" : "·";
    bar += fmt::format("] {:3.0f}%  ", r.fraction_done * 100);
  }
  std::string line = fmt::format("{}update {}  loss {:.3f}  {} words/s", bar, grouped(now.updates), r.cost,
                                 grouped(int64_t(r.words_per_second)));
  if (r.remaining >= 0) line += "  ETA " + grouped_seconds(r.remaining);
  show("\r\x1b[K" + line);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  show("\r\x1b[K");
  drawn_ = false;
}

}  // namespace dragoman
