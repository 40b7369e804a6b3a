#pragma once
#include "comm/communicator.h"
#include "dragoman/run_control.h"
#include "train/checkpoint.h"
#include "train/kept_checkpoints.h"
#include "train/resolve_settings.h"
#include "train/updater.h"
#include "train/validation.h"

namespace dragoman {

/// A training run, from files to the finished model. Resumes where a run with the same --model stopped.
class Trainer {
 public:
  /// Reads everything and checks that it fits into memory and on the disk, before the first update. `control` receives
  /// requests from outside during the run; it must outlive the trainer.
  Trainer(TrainingSetup setup, const Backend& backend, RunControl& control);
  Trainer(TrainingSetup setup, const Backend& backend);  // a run without requests from outside
  /// One rank of a run on several processes, all of which make the same calls. Rank 0 reads and writes the files, reads
  /// `control` and makes the decisions; the other ranks follow.
  Trainer(TrainingSetup setup, const Backend& backend, RunControl& control, Communicator& ranks);

  /// Trains until one of --after is reached, validation stalls or `control` asks it to stop. Saves the model at the end
  /// in each case, and measures it if --after ends the run. A save that fails is reported and retried at the next save;
  /// Error if the last save fails. If another file, such as a log, could not be written, throws an Error at the end.
  /// After --max-skipped consecutive non-finite updates, the run rolls back to its last checkpoint with half the
  /// learning rate; Error if that happens again, or if there is no checkpoint.
  void run();

  const Progress& progress() const { return progress_; }
  Model& model() { return *model_; }

 private:
  Trainer(TrainingSetup setup, const Backend& backend, RunControl* control, Communicator* ranks);
  bool leads() const { return ranks_.rank() == 0; }
  bool decide(bool of_rank_0) const;
  void require_same_run();
  CheckpointSize checkpoint() const;
  RunState run_state();
  void begin();
  void begin_or_resume();
  bool train(const Stopping& stopping, std::optional<BatchStream>& batches);
  BatchStream::Wait wait_for_text(BatchStream& batches, bool learned);
  bool pass_useless_parts(const Position& next);
  void pause_for_work(const DecayPoint& before, bool validation_due, bool saving_due);
  bool ended(const Stopping& stopping) const;
  void report(const Stopping& stopping);
  void warn_of_divergence(double cost);
  void load();
  void count_longest(const TrainedLengths& trained);
  DecayPoint decay_point() const;
  void decay_rate(const DecayPoint& before);
  void resume_rate();
  void roll_back();
  RunValidation measure();
  void validate();
  void validate_on_request();
  void validate_at_end();
  bool decides(ValidMetric metric) const;
  void forget_other_metrics();
  void forget_incomparable();
  void try_save(const std::function<void()>& save);
  void save(bool numbered);
  void save_at_end(bool completed);
  void save_state_and_model();
  void save_state();
  void write_smoothed(const std::string& path);
  Stalled stalled() const;
  bool stops_early() const;
  RunEnd::Reason reason() const;

  RunControl no_requests_;
  RunControl& control_;
  const std::unique_ptr<Communicator> alone_;  // for a run on a single process
  Communicator& ranks_;
  TrainingSetup setup_;
  const Backend& backend_;
  Unwritten unwritten_;
  RunLog log_;
  MadeVocabularies made_;
  Vocabularies vocabularies_;
  const bool resumes_;  // the run was started by an earlier call
  Validation validation_;
  std::shared_ptr<const Corpus> corpus_;
  const MemoryPlan plan_;         // at the beginning of the run
  Arena arena_;                   // after the plan, which is for the memory that is free
  const TrainedLengths longest_;  // of the corpus at its first reading, so that a resumed run has the same values
  BatchOrder order_;
  std::unique_ptr<Model> model_;
  Progress progress_;
  Updater updater_;
  KeptCheckpoints kept_;
  bool save_due_ = false;
  bool numbered_due_ = false;  // of --keep-last, in that save
  bool diverging_ = false;     // divergence was reported
  bool text_ended_ = false;    // it is a stream, of which nothing is left
  int64_t saved_ = -1;         // updates at the last save of this process
  Position saved_position_;    // at the last save: parts of a stream of which no pair can be used change it alone
};

}  // namespace dragoman
