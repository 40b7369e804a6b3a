#include "train/signals.h"

#include <csignal>

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
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopSignals::asked() { return stop_asked != 0; }

}  // namespace dragoman
