#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint.h"

namespace dragoman {

/// Checks before training that there is room for files, rather than failing at the first checkpoint.

/// The bytes that saving needs in addition to the files of the model that exist, also to replace those that it writes.
int64_t space_to_save(const std::string& model, CheckpointSize size);

/// Error if they are more than `available`, or if a file would exceed the limit on file sizes (ulimit -f).
void require_space(const std::string& model, CheckpointSize size, int64_t available);

/// Error if the disk has no room for one more file of the size of the model which leaves that for the next save. The
/// file is written before `replaced` are removed.
void require_space_beside(const std::string& model, CheckpointSize size, const std::vector<std::string>& replaced);

/// Free bytes on the disk of a file; a very large number if the system does not report it.
int64_t free_space(const std::string& file);

/// Prevents two runs, of one process or of two, from training the same model and overwriting each other's checkpoints.
/// Locks a file beside the model, "model.safetensors.lock", which the destructor removes. A file left by a killed
/// process is not locked. Error if another run holds the lock, or if the path is not a regular file. Does nothing if
/// the file system has no locks.
class ModelLock {
 public:
  explicit ModelLock(const std::string& model);
  ~ModelLock();
  ModelLock(const ModelLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;  // -1: not locked
};

}  // namespace dragoman
