#include "dragoman/engine.h"

#include <fmt/format.h>

#include "backend/registry.h"
#include "base/log.h"
#include "base/own_process.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "comm/communicator.h"

namespace dragoman {

struct Engine::State {
  explicit State(EngineOptions o) : options(std::move(o)), pool(options.threads), alone(single_process()) {}
  const OwnProcess process;
  const EngineOptions options;
  ThreadPool pool;
  const std::unique_ptr<Communicator> alone;
};

Engine::Engine(EngineOptions options) : state_(std::make_unique<State>(std::move(options))) {}

// A child of fork() has no threads to join, and leaves its copy of the objects alone until it ends.
Engine::~Engine() {
  if (state_->process.forked()) (void)state_.release();
}

// Names of backends, such as "cuda:0:tf32", are internal to the library.
const Backend& Engine::backend() const {
  const std::string& device = state_->options.device;
  if (!is_backend(device))
    throw Error(fmt::format("device is '{}', expected cpu or the name of a GPU, such as cuda:0", beginning_of(device)),
                "dragoman inspect --devices lists the devices");
  if (!state_->options.fast_math || device.ends_with(fast_backend)) return dragoman::backend(device);
  if (!is_gpu(device))
    throw Error(fmt::format("fast_math is for GPUs, and device is {}", device),
                "leave fast_math out, or let device name a GPU, such as cuda:0");
  return dragoman::backend(device + std::string(fast_backend));
}

int Engine::threads() const { return state_->pool.size(); }
Communicator& Engine::ranks() const { return state_->options.ranks ? *state_->options.ranks : *state_->alone; }

struct Engine::Scope::Bindings {
  explicit Bindings(State& state) : pool(&state.pool), log(state.options.log ? &state.options.log : nullptr) {}
  const PoolScope pool;
  const LogScope log;
};

Engine::Scope::Scope(Engine& engine)
    : bindings_([&] {
        engine.state_->process.require_not_forked("engine");
        return std::make_unique<Bindings>(*engine.state_);
      }()) {}
Engine::Scope::~Scope() = default;

}  // namespace dragoman
