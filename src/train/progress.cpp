#include "train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/grouped.h"

namespace dragoman {

int64_t Recurring::periods(const Progress& now) const {
  if (frequency_.count <= 0) return 0;
  switch (frequency_.unit) {
    case Frequency::updates:
      return now.updates / frequency_.count;
    case Frequency::epochs:
      return now.position.epoch / frequency_.count;
    case Frequency::target_tokens:
      return now.labels / frequency_.count;
    case Frequency::minutes:
      return int64_t(clock_.seconds() / 60) / frequency_.count;
  }
  return 0;
}

bool Recurring::due(const Progress& now) {
  const int64_t ended = periods(now);
  return std::exchange(seen_, ended) != ended;
}

double Stopping::way(Frequency end, const Progress& p) const {
  switch (end.unit) {
    case Frequency::updates:
      return double(p.updates);
    case Frequency::epochs:
      return double(p.position.epoch) + double(p.epoch_sentences) / double(corpus_pairs_);
    case Frequency::target_tokens:
      return double(p.labels);
    case Frequency::minutes:
      return clock_.seconds() / 60;
  }
  return 0;
}

bool Stopping::reached(const Progress& p) const {
  return std::any_of(after_.begin(), after_.end(),
                     [&](Frequency end) { return end.count > 0 && way(end, p) >= double(end.count); });
}

double Stopping::share(const Progress& p) const {
  double most = -1;
  for (Frequency end : after_)
    if (end.count > 0) most = std::max(most, std::min(1.0, way(end, p) / double(end.count)));
  return most;
}

double Stopping::remaining(const Progress& p) const {
  double least = -1;
  for (Frequency end : after_) {
    const double done = way(end, p) - (end.unit == Frequency::minutes ? 0 : way(end, start_));
    if (end.count <= 0 || done <= 0) continue;
    const double seconds = std::max(0.0, double(end.count) - way(end, p)) / done * clock_.seconds();
    least = least < 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

std::string grouped_seconds(double seconds) {
  const auto s = int64_t(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string report_line(const Progress& p, const Window& w, double rate, double eta) {
  const double seconds = w.clock.seconds();
  std::string line = fmt::format(
      "Ep. {} : Up. {} : Sen. {} : Cost {:.8f} : Time {:.2f}s : {:.2f} words/s : gNorm {:.4f} : L.r. {:.4e}", p.epoch(),
      p.updates, grouped(p.epoch_sentences), w.cost / double(std::max<int64_t>(1, w.labels)), seconds,
      double(w.labels) / seconds, w.norm, rate);
  if (eta >= 0) line += " : ETA " + grouped_seconds(eta);
  return line;
}

ProgressBar::ProgressBar(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

void ProgressBar::draw(const Progress& p, const Window& w, double share, double eta) {
  if (!shown_ || w.labels == 0 || clock_.seconds() - last_ < 0.2) return;
  last_ = clock_.seconds();
  std::string bar;
  if (share >= 0) {
    const int full = int(share * 20);
    bar = "[";
    for (int i = 0; i < 20; ++i) bar += i < full ? "#" : "·";
    bar += fmt::format("] {:3.0f}%  ", share * 100);
  }
  std::string line = fmt::format("{}update {}  loss {:.3f}  {} words/s", bar, grouped(p.updates),
                                 w.cost / double(w.labels), grouped(int64_t(double(w.labels) / w.clock.seconds())));
  if (eta >= 0) line += "  ETA " + grouped_seconds(eta);
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace dragoman
