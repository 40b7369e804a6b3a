#include "train/signals.h"

#include <csignal>
#include <initializer_list>

namespace dragoman {
namespace {

volatile std::sig_atomic_t stop_asked = 0, save_asked = 0, validation_asked = 0;

// The signal that comes while its handler runs is delivered after it, and then ends the process.
void ask_to_stop(int signal) {
  if (stop_asked != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  stop_asked = 1;
}

void take_request(int signal) { (signal == SIGUSR1 ? save_asked : validation_asked) = 1; }

// A shell starts background jobs with SIGINT ignored, so that Ctrl-C in its terminal is not for them.
void handle(std::initializer_list<int> signals, void (*handler)(int)) {
  for (int signal : signals)
    if (std::signal(signal, handler) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool take(volatile std::sig_atomic_t& asked) {
  const bool was = asked != 0;
  asked = 0;
  return was;
}

}  // namespace

StopSignals::StopSignals() {
  stop_asked = 0;
  handle({SIGINT, SIGTERM}, ask_to_stop);
}

StopSignals::~StopSignals() { handle({SIGINT, SIGTERM}, SIG_DFL); }

bool StopSignals::asked() { return stop_asked != 0; }

RequestSignals::RequestSignals() {
  save_asked = 0;
  validation_asked = 0;
  handle({SIGUSR1, SIGUSR2}, take_request);
}

RequestSignals::~RequestSignals() { handle({SIGUSR1, SIGUSR2}, SIG_DFL); }

bool RequestSignals::take_save() { return take(save_asked); }

bool RequestSignals::take_validation() { return take(validation_asked); }

}  // namespace dragoman
