#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "data/prefetch.h"
#include "dragoman/run_event.h"
#include "io/model_file.h"
#include "train/frequency.h"
#include "train/loss_scale.h"

namespace dragoman {

/// What the files of --keep-best have, by metric name. They need not be of the run's own past: a rollback leaves the
/// files.
struct KeptBest {
  std::map<std::string, double> values;  // of the best model: behind Progress::best if one could not be written, ahead
                                         // if the last validation of an earlier call wrote it
  std::map<std::string, std::map<int64_t, double>> updates;  // of --keep-best N, the value of each update
  bool operator==(const KeptBest&) const = default;
};

/// The progress of a run, with everything that decides what happens next. Stored in the state file; contains no time.
struct Progress {
  int64_t updates = 0;
  int64_t target_tokens = 0;     // target tokens trained on, end of sentence included
  int64_t sentences = 0;         // in all epochs
  int64_t epoch_sentences = 0;   // in the current epoch
  int64_t skipped = 0;           // updates skipped because the loss or gradient was not finite
  int64_t skipped_in_a_row = 0;  // the last ones
  int64_t rollbacks = 0;         // rollbacks to a checkpoint after too many skipped updates; each halves the rate
  double decayed = 1;            // by --lr-decay: the product of all decays
  double reduced_rate = 0;       // the --learn-rate that rollbacks and decays reduce; 0: none
  LossScale loss_scale;          // in float16 training; else 1
  std::map<std::string, int64_t> stalled;  // by metric name: validations in a row without improvement
  int64_t most_stalled = 0;                // the most that --early-stopping-on has counted
  std::map<std::string, double> best;      // by metric name: a later run may use other metrics
  KeptBest kept;
  std::map<std::string, std::string> measured;  // what these values measure: Validation::fingerprint
  int64_t validated = 0;                        // the update of the last scheduled validation; 0: there was none
  Position position;                            // in the corpus
  int64_t stream_begin = 0;                     // the epoch that the first part of the text stream is
  double stream_weight = 0;  // of a text stream with --data-weighting: the mean weight of its first part; 0: unknown
  TrainedLengths longest;    // of the sentences that the run, or the model that it began with, has had
  /// What the last epoch had, if the last update ended with it; then `position` is the beginning of the next one. Not
  /// stored.
  struct EndedEpoch {
    int64_t batches = 0, sentences = 0;
  };
  std::optional<EndedEpoch> ended_epoch;

  // For people: the epoch from 1, and its batches. The end of an epoch belongs to it.
  int64_t epoch() const { return position.epoch + (ended_epoch ? 0 : 1); }
  int64_t epoch_batches() const { return ended_epoch ? ended_epoch->batches : position.batch; }
  RunMoment moment() const {
    return {0, epoch(), updates, ended_epoch ? ended_epoch->sentences : epoch_sentences, target_tokens};
  }
  double rate_factor() const;  // for the learning rate, after rollbacks and decays
};

/// Triggers an action at regular intervals. Intervals of updates, epochs or target tokens end at the same points of a
/// run however often it was stopped in between; intervals of minutes count the time of this process.
class Recurring {
 public:
  Recurring(Frequency frequency, const Progress& at_start) : frequency_(frequency), seen_(periods(at_start)) {}
  /// Whether an interval has ended since the last call, or since the start.
  bool due(const Progress& now);

 private:
  int64_t periods(const Progress& now) const;  // completed intervals

  Frequency frequency_;
  Clock clock_;
  int64_t seen_;
};

/// When to stop: at the first limit of `--after` that is reached; 0 means never.
class Stopping {
 public:
  Stopping(std::vector<Frequency> after, int64_t corpus_pairs, const Progress& at_start)
      : after_(std::move(after)), corpus_pairs_(corpus_pairs), start_(at_start) {}
  bool reached(const Progress& progress) const;
  /// Progress towards the nearest limit, 0…1, or -1 if there is none.
  double fraction_done(const Progress& progress) const;
  double epochs(const Progress& progress) const;
  /// Estimated seconds to the nearest limit at this process's speed, or -1 if unknown.
  double remaining(const Progress& progress) const;

 private:
  double way(Frequency end, const Progress& progress) const;  // in units of `end`

  std::vector<Frequency> after_;
  int64_t corpus_pairs_;
  Progress start_;
  Clock clock_;
};

/// Totals since the last report.
struct Window {
  double cost = 0;  // sum of losses
  int64_t target_tokens = 0;
  double weight = 0;  // sum of the target tokens' weights; without --data-weighting their number
  double norm = 0;    // of the last update's gradient
  Clock clock;

  double mean_cost() const;
  double words_per_second() const;
};

}  // namespace dragoman
