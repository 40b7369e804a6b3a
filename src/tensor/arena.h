#pragma once
#include <cstdint>
#include <map>
#include <memory>

#include "base/error.h"
#include "tensor/tensor.h"

namespace dragoman {

/// That there is no memory for a tensor. What was computed so far may be thrown away, and less attempted.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// Where tensors live: one reserved range of addresses from which blocks are handed out first-fit and into which they
/// return, joining free neighbours, when the last tensor that looks at them dies. Tensors die in any order. Pages are
/// taken from the system at first touch and kept, so after the largest batch no memory is asked for again.
/// With Reserve::addresses_only nothing may be touched: the `dry` backend plans a run's peak with it.
/// In the memory of a device the range is committed as its top rises, and stays so.
/// One thread uses an arena at a time; blocks may be released by another thread only while that one rests.
class Arena {
 public:
  enum class Reserve { memory, addresses_only };
  explicit Arena(Reserve reserve = Reserve::memory, int64_t capacity = 0);  // bytes; 0: the machine's memory
  explicit Arena(const DeviceMemory& device, int64_t capacity = 0);         // bytes; 0: what is free there
  Arena(const Arena&) = delete;

  /// Uninitialised, aligned to 64 bytes. Throws OutOfMemory when there is none for it.
  Tensor allocate(Shape shape, DType dtype);

  int64_t peak() const;    // bytes: highest address ever handed out, so what stays resident
  int64_t in_use() const;  // bytes in live blocks
  void reset_peak();       // peak() counts from what is in use now

 private:
  struct Pool;
  std::shared_ptr<Pool> pool_;  // blocks hold it too: tensors may outlive the arena
};

}  // namespace dragoman
