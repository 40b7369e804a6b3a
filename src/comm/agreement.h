#pragma once
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace dragoman {

/// Work of all ranks in which rank 0 alone may fail, such as writing a file: where it does, all throw.
void together(Communicator& ranks, const std::function<void()>& work);

/// Something that all ranks must have alike.
struct SharedFact {
  const char* what;  // "version of dragoman"
  std::string value;
};
/// Error on all ranks, which names the first that differs from rank 0, and in what.
void require_same(Communicator& ranks, const std::vector<SharedFact>& facts);

}  // namespace dragoman
