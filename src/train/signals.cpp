#include "train/signals.h"

#include <csignal>
#include <initializer_list>

namespace dragoman {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  stop_asked = 0;
  // A shell starts background jobs with SIGINT ignored, so that Ctrl-C in its terminal is not for them.
  for (int signal : {SIGINT, SIGTERM})
    if (std::signal(signal, ask_to_stop) == SIG_IGN) std::signal(signal, SIG_IGN);
}

StopSignals::~StopSignals() {
  for (int signal : {SIGINT, SIGTERM})
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool StopSignals::asked() { return stop_asked != 0; }

}  // namespace dragoman
