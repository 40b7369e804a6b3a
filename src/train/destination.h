#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "train/checkpoint.h"

namespace dragoman {

/// What cannot be written is better found before training than at the first checkpoint.

/// Error unless the folder of the file exists and is writable; `option` is what names the file.
void require_writable(std::string_view option, const std::string& file);

/// Error when `available` bytes do not hold the next checkpoint. Files that are there already are replaced one after
/// the other, so one of them at a time is there twice.
void require_space(const std::string& model, CheckpointSize size, int64_t available);

/// Bytes free on the disk of a file; a very large number where the system does not say.
int64_t free_space(const std::string& file);

/// Keeps other processes from training the same model, which would overwrite each other's checkpoints: locks a file
/// beside it, "model.safetensors.lock", that goes with the object. What a killed process leaves locks nothing. Error
/// when another process has it, or when what is there is no regular file; nothing where the disk knows no locks.
class ModelLock {
 public:
  explicit ModelLock(const std::string& model);
  ~ModelLock();
  ModelLock(const ModelLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;  // -1: nothing is locked
};

}  // namespace dragoman
