#include "cli/signals.h"

#include <csignal>
#include <cstddef>
#include <initializer_list>

#include "base/error.h"

namespace dragoman {
namespace {

// The run that receives signals: a process has one at a time.
RunControl* run = nullptr;
volatile std::sig_atomic_t stops = 0;

// The raised signal is delivered after its handler returns, and then ends the process.
void ask_to_stop(int signal) {
  if (stops != 0) {
    if (const int script = run->script; script > 0) kill(-script, SIGTERM);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  stops = 1;
  run->stop = true;
}

void take_hangup(int) { run->stop = true; }

void take_request(int signal) { (signal == SIGUSR1 ? run->save : run->validate) = true; }

// The matrix product of oneDNN 2.6 keeps data further below the stack pointer than the 128-byte red zone, so a handler
// on the interrupted thread's stack would overwrite it. Only the training thread of this program takes signals.
void give_handlers_a_stack() {
  alignas(64) static std::byte memory[65536];
  const stack_t stack = {.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
  invariant(sigaltstack(&stack, nullptr) == 0, "cannot set up a stack for signal handlers");
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

// A shell starts background jobs with SIGINT ignored, so that Ctrl-C in its terminal does not reach them.
void handle(std::initializer_list<int> signals, void (*handler)(int)) {
  give_handlers_a_stack();
  for (int signal : signals) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) set_handler(signal, handler);
  }
}

}  // namespace

StopSignals::StopSignals(RunControl& control) {
  run = &control;
  stops = 0;
  handle({SIGINT, SIGTERM}, ask_to_stop);
  handle({SIGHUP}, take_hangup);
}

StopSignals::~StopSignals() { handle({SIGINT, SIGTERM, SIGHUP}, SIG_DFL); }

RequestSignals::RequestSignals(RunControl& control) {
  run = &control;
  handle({SIGUSR1, SIGUSR2}, take_request);
}

RequestSignals::~RequestSignals() { handle({SIGUSR1, SIGUSR2}, SIG_DFL); }

}  // namespace dragoman
