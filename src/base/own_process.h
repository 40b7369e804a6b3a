#pragma once
#include <sys/types.h>

namespace dragoman {

/// The process that an object was made in. After fork() the child has a copy of the object but none of its threads, and
/// its mutexes may stay locked: whatever waits for one of them would wait forever.
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
