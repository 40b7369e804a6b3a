#include "base/thread_signals.h"

#include <csignal>
#include <initializer_list>

namespace dragoman {

void leave_signals_to_the_program() {
  sigset_t theirs;
  sigemptyset(&theirs);
  for (int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM}) sigaddset(&theirs, signal);
  pthread_sigmask(SIG_BLOCK, &theirs, nullptr);
}

}  // namespace dragoman
