#pragma once
#include <pthread.h>

namespace dragoman {

/// While this lives, the system cannot start more threads that leave the size of their stack to it: it has no room for
/// one.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t immense;
    pthread_attr_init(&immense);
    pthread_attr_setstacksize(&immense, size_t{1} << 47);
    pthread_setattr_default_np(&immense);
    pthread_attr_destroy(&immense);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;

 private:
  pthread_attr_t before_ = {};
};

}  // namespace dragoman
