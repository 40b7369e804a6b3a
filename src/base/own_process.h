#pragma once
#include <sys/types.h>

namespace dragoman {

/// The process in which an object was made. After fork() the child has a copy of the object but none of its threads,
/// and mutexes may stay locked, so waiting for one of them could take forever.
class OwnProcess {
 public:
  OwnProcess();
  bool forked() const;
  /// Error in a child of that process.
  void require_not_forked(const char* object) const;

 private:
  const pid_t id_;
};

}  // namespace dragoman
