#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "runlog/run_log.h"
#include "train/checkpoint.h"

namespace dragoman {

/// The checkpoints that a run keeps beside its model: the last ones (--keep-last), the best one by each metric and the
/// N best by the first (--keep-best). Decides which are written and which removed. It removes only files of the run,
/// and only when those that replace them are there. A file that cannot be written is reported; training continues. All
/// ranks make the same calls; rank 0 decides, and reads and writes the files. What is in the files by --keep-best is in
/// Progress::kept, and so in the state; of numbered checkpoints the state has nothing. So a run that begins leaves
/// those alone that are there, but one that resumes takes all up to its update for its own.
class KeptCheckpoints {
 public:
  using Save = std::function<void(const std::string& path)>;  // writes the model as it is now; all ranks call it

  /// `size` is that of a checkpoint of the run. The references must outlive it.
  KeptCheckpoints(const TrainingOptions& options, CheckpointSize size, Communicator& ranks, Progress& progress,
                  RunLog& log, Unwritten& unwritten);

  /// For a run that begins: notes the numbered checkpoints that are there, which are not its own.
  void begin();
  /// For a run that resumes: forgets the files by --keep-best that the user has removed.
  void resume();
  /// After a rollback, which leaves the files: `kept` is what they have.
  void roll_back(const KeptBest& kept);
  /// The values of a metric cannot be compared with those to come.
  void forget(const std::string& metric);

  /// Writes a numbered checkpoint, and returns whether it did. No: --keep-last 0, or a failure, such as too little room
  /// for it and the next save.
  bool keep_last(const Save& save);
  /// Removes it again, since the state or the model could not be written beside it.
  void give_up_last(const std::string& failure);
  /// Whether keep_last() has been called at this update, if it has anything to do.
  bool has_last() const { return options_.keep_last == 0 || last_ == progress_.updates; }
  /// Writes the model that was validated where it belongs by this figure.
  void keep_best(const RunValidation::Figure& figure, const Save& save);

  /// Files of other runs beside the kept ones would be averaged with them.
  void warn_of_others() const;

 private:
  bool leads() const { return ranks_.rank() == 0; }
  bool decide(bool of_rank_0) const { return ranks_.broadcast(of_rank_0); }
  void miss_last(const std::string& failure);
  void keep_best_model(const RunValidation::Figure& figure, const Save& save);
  void keep_among_best(const RunValidation::Figure& figure, const Save& save);
  std::string write_best(const std::string& path, const std::vector<std::string>& replaced, const Save& save);
  std::string write(const std::string& path, std::vector<std::string> replaced, const Save& save);

  const TrainingOptions& options_;
  const CheckpointSize size_;
  Communicator& ranks_;
  Progress& progress_;
  RunLog& log_;
  Unwritten& unwritten_;
  int64_t last_ = -1;                  // the update of the last numbered checkpoint of this process
  std::set<int64_t> numbered_before_;  // updates of numbered checkpoints that were there when the run began
  std::optional<double> unkept_;       // the best value whose checkpoint --keep-best N could not write
};

/// Error, before training, if the disk has no room for the state and the model (require_space). Warns if it may have
/// none for all the others that a run with these options keeps at a time, as those are written later.
void require_room(const TrainingOptions& options, CheckpointSize size);

/// The numbered checkpoints to remove once the one of `update`, "model.update8000.safetensors", is written, so that the
/// last `keep` remain. Checkpoints of other runs, of the updates `of_others` and of later ones, are neither removed nor
/// counted.
std::vector<std::string> outdated_by(int64_t update, const std::string& model_path, int64_t keep,
                                     const std::set<int64_t>& of_others = {});

}  // namespace dragoman
