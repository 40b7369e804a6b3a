#include "train/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dragoman {

double Progress::rate_factor() const { return std::pow(0.5, double(rollbacks)) * decayed; }

int64_t Recurring::periods(const Progress& now) const {
  if (frequency_.count <= 0) return 0;
  switch (frequency_.unit) {
    case Frequency::updates:
      return now.updates / frequency_.count;
    case Frequency::epochs:
      return now.position.epoch / frequency_.count;
    case Frequency::target_tokens:
      return now.target_tokens / frequency_.count;
    case Frequency::minutes:
      return int64_t(clock_.seconds() / 60) / frequency_.count;
  }
  return 0;
}

bool Recurring::due(const Progress& now) {
  const int64_t ended = periods(now);
  return std::exchange(seen_, ended) != ended;
}

double Stopping::epochs(const Progress& p) const {
  return double(p.position.epoch) + std::min(1.0, double(p.epoch_sentences) / double(corpus_pairs_));
}

double Stopping::way(Frequency end, const Progress& p) const {
  switch (end.unit) {
    case Frequency::updates:
      return double(p.updates);
    case Frequency::epochs:
      return epochs(p);
    case Frequency::target_tokens:
      return double(p.target_tokens);
    case Frequency::minutes:
      return clock_.seconds() / 60;
  }
  return 0;
}

// The number of pairs in an epoch is only an estimate, so the end of an epoch is detected exactly instead.
bool Stopping::reached(const Progress& p) const {
  return std::any_of(after_.begin(), after_.end(), [&](Frequency end) {
    const double done = end.unit == Frequency::epochs ? double(p.position.epoch) : way(end, p);
    return end.count > 0 && done >= double(end.count);
  });
}

double Stopping::fraction_done(const Progress& p) const {
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

double Window::mean_cost() const { return cost / (weight > 0 ? weight : 1); }

double Window::words_per_second() const { return double(target_tokens) / std::max(clock.seconds(), 1e-9); }

}  // namespace dragoman
