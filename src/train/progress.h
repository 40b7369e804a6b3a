#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "data/prefetch.h"
#include "runlog/run_event.h"
#include "train/frequency.h"
#include "train/loss_scale.h"

namespace dragoman {

/// How far a run has come: all that decides what happens next. Stored in the state file; holds no clock.
struct Progress {
  int64_t updates = 0;
  int64_t target_tokens = 0;           // target tokens learnt from, end of sentence included
  int64_t sentences = 0;               // in all epochs
  int64_t epoch_sentences = 0;         // in the present one
  int64_t skipped = 0;                 // updates left out because loss or gradient was not finite
  int64_t skipped_in_a_row = 0;        // the last ones
  int64_t rollbacks = 0;               // times that too many of them led back to a checkpoint; each halves the rate
  LossScale loss_scale;                // of training in float16; 1 in others
  int64_t stalled = 0;                 // validations in a row without improvement of the first metric
  std::map<std::string, double> best;  // by the name of the metric: a later run may ask for others
  std::map<std::string, double> kept;  // of the files of --keep-best: behind `best` where one could not be written
  Position position;                   // in the corpus

  int64_t epoch() const { return position.epoch + 1; }  // for people, from 1
  double rate_factor() const;                           // of the learning rate, after rollbacks
  RunMoment moment() const { return {0, epoch(), updates, epoch_sentences, target_tokens}; }
};

/// What happens every so many updates, epochs or target tokens of a run, at the same points however often the run was
/// stopped in between; or every so many minutes of this process.
class Recurring {
 public:
  Recurring(Frequency frequency, const Progress& at_start) : frequency_(frequency), seen_(periods(at_start)) {}
  /// Whether a period has ended since the last call, or since the start.
  bool due(const Progress& now);

 private:
  int64_t periods(const Progress& now) const;  // whole ones so far

  Frequency frequency_;
  Clock clock_;
  int64_t seen_;
};

/// When to stop: the first of `--after` that is reached; 0 is never.
class Stopping {
 public:
  Stopping(std::vector<Frequency> after, int64_t corpus_pairs, const Progress& at_start)
      : after_(std::move(after)), corpus_pairs_(corpus_pairs), start_(at_start) {}
  bool reached(const Progress& progress) const;
  /// Share of the way to the nearest end, 0…1, or -1 where none is known.
  double share(const Progress& progress) const;
  double epochs(const Progress& progress) const;
  /// Seconds to the nearest end at this process's speed, or -1 where none is known.
  double remaining(const Progress& progress) const;

 private:
  double way(Frequency end, const Progress& progress) const;  // in units of `end`

  std::vector<Frequency> after_;
  int64_t corpus_pairs_;
  Progress start_;
  Clock clock_;
};

/// What has happened since the last report.
struct Window {
  double cost = 0;  // sum of losses
  int64_t target_tokens = 0;
  double weight = 0;  // of the target tokens, each that of its sentence; without --data-weighting their number
  double norm = 0;    // of the last update's gradient
  Clock clock;

  double mean_cost() const;
  double words_per_second() const;
};

}  // namespace dragoman
