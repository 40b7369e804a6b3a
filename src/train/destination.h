#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint.h"

namespace dragoman {

/// Checks before training that files can be written, rather than failing at the first checkpoint. If the model is a
/// symbolic link, only the model itself is behind it; the state and other checkpoints are beside the link.

/// Error unless both folders exist and are writable.
void require_writable_model(const std::string& model);

/// Free bytes on the disk of the state and other checkpoints; a very large number if the system does not report it.
int64_t free_space(const std::string& model);

/// The bytes that saving needs there in addition to the files that exist, also to replace those that it writes.
int64_t space_to_save(const std::string& model, CheckpointSize size);

/// Error if they are more than `available`, if a link leads to another disk without room for the model, or if a file
/// would exceed the limit on file sizes (ulimit -f).
void require_space(const std::string& model, CheckpointSize size, int64_t available);

/// Error if the disk has no room for one more file of the size of the model which leaves that for the next save. The
/// file is written before `replaced` are removed.
void require_space_beside(const std::string& model, CheckpointSize size, const std::vector<std::string>& replaced);

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
