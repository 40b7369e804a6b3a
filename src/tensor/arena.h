#pragma once
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "tensor/tensor.h"

namespace dragoman {

/// Thrown when a tensor cannot be allocated. The caller may discard its results so far and retry with less.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Thrown when a GPU, its driver or its libraries fail. The error may be of an earlier call, and after some errors
/// every further call fails in this process.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Allocates tensors from one reserved address range, first-fit. A block returns, merged with free neighbours, when the
/// last tensor that refers to it is destroyed, in any order. Pages are committed at first touch and kept, so after the
/// largest batch no more memory is requested.
/// With Reserve::addresses_only the memory must not be touched: the `dry` backend uses this to plan a run's peak.
/// In device memory the range is committed as its top rises, and stays committed.
/// One thread uses an arena at a time; other threads may release blocks only while that one is idle.
class Arena {
 public:
  enum class Reserve { memory, addresses_only };
  explicit Arena(Reserve reserve = Reserve::memory, int64_t capacity = 0);  // bytes; 0: the machine's memory
  explicit Arena(const DeviceMemory& device, int64_t capacity = 0);         // bytes; 0: the free device memory
  Arena(const Arena&) = delete;

  /// Uninitialised, aligned to 64 bytes. Throws OutOfMemory if the arena is full.
  Tensor allocate(Shape shape, DType dtype);

  int64_t peak() const;    // bytes: highest address ever allocated, which stays resident
  int64_t in_use() const;  // bytes in live blocks
  void reset_peak();       // restarts peak() at the current use; what is free goes back to the system

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;  // blocks hold it too: tensors may outlive the arena
};

}  // namespace dragoman
