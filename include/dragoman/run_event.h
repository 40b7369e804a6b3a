#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace dragoman {

/// The events of a training run, for logs and programs.

/// The position of the run at an event.
struct RunMoment {
  double seconds = 0;  // since this call began
  int64_t epoch = 1;
  int64_t updates = 0;
  int64_t epoch_sentences = 0;
  int64_t target_tokens = 0;  // over all epochs
};

struct RunStarted {
  std::string model;  // the file
  int64_t parameters = 0;
  bool resumes = false;  // continues an earlier call
};

/// Every --disp-freq: what training did since the last one.
struct RunReport {
  double cost = 0;              // label-smoothed cross-entropy (base e), mean over target tokens
  double alignment_cost = -1;   // with --guided-alignment: of its links, mean over linked target tokens; else -1
  double seconds = 0;           // since the last report, without validations and saves
  double words_per_second = 0;  // target tokens in these seconds
  double learning_rate = 0;
  double gradient_norm = 0;   // of the last update, before clipping
  double fraction_done = -1;  // of the run, until the nearest end, 0…1; -1: unknown
  double remaining = -1;      // seconds; -1: unknown
};

struct RunValidation {
  struct Figure {
    std::string metric;
    double value = 0;     // as in the log; docs/training.md defines each metric
    bool better = false;  // than all earlier ones
    bool any_best = false;
    double best = 0;      // the best value so far, if any
    int64_t stalled = 0;  // validations in a row without improvement by more than --early-stopping-epsilon
  };
  std::vector<Figure> figures;  // one per metric, except scripts that printed none
  int64_t stalled = 0;          // validations in a row without improvement, by --early-stopping-on
  bool requested = false;       // requested by a signal: does not count for early stopping
};

struct RunSave {
  std::string model;
  std::string failure;  // empty: done
};

/// An update that was skipped because its loss or gradient is not finite.
struct RunSkip {
  int64_t consecutive = 0, total = 0;
  std::string first_nonfinite;  // the first tensor that is not finite, if known
};

/// After too many skipped updates in a row, the run has returned to its last checkpoint, with a lower rate. The moment
/// is that of the checkpoint.
struct RunRollback {
  int64_t from_update = 0;
  double rate_factor = 1;
  std::string first_nonfinite;
};

/// The learning rate has been multiplied by --lr-decay.
struct RunDecay {
  double learning_rate = 0;  // from now on, apart from the schedule
  double factor = 1;         // of this decay
  double rate_factor = 1;    // of all decays and rollbacks so far
  std::string reason;        // "no improvement of bleu for 3 validations"
};

struct RunEnd {
  enum Reason { after, early_stopping, signal, end_of_text } reason = after;
  double epochs = 0;
  int64_t stalled = 0;
};

using RunEvent = std::variant<RunStarted, RunReport, RunValidation, RunSave, RunSkip, RunRollback, RunDecay, RunEnd>;

/// Called with each event of a run, in the thread that trains. An exception from it ends the run, which is not saved.
using RunObserver = std::function<void(const RunMoment& now, const RunEvent& event)>;

}  // namespace dragoman
