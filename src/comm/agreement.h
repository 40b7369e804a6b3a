#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace dragoman {

/// Work of all ranks in which rank 0 alone may fail, such as writing a file: where it does, all throw.
void together(Communicator& ranks, const std::function<void()>& work);

/// The least number of all ranks, on all.
int64_t least_of(Communicator& ranks, int64_t here);

/// Something that all ranks must have alike.
struct SharedFact {
  std::string what;   // "version of dragoman"
  std::string value;  // without NUL
};
/// Error on all ranks unless they are alike. It names the first fact that a rank has otherwise than rank 0, and that
/// rank. All ranks give the same number of facts in the same order.
void require_same(Communicator& ranks, const std::vector<SharedFact>& facts);

}  // namespace dragoman
