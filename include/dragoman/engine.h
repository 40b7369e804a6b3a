#pragma once
#include <memory>
#include <string>

#include "dragoman/log_sink.h"

namespace dragoman {

struct Backend;

struct EngineOptions {
  std::string device = "cpu";  // or "cuda:0", the first GPU
  bool fast_math = false;      // on a GPU, float32 products may round what they multiply to TF32
  int threads = 0;             // at most 4,095; 0: one a core that the process may use, or what OMP_NUM_THREADS says
  LogSink log = {};            // empty: messages go nowhere
};

/// What one use of dragoman needs of the machine: a backend, threads, and a place for messages. Engines are independent
/// of each other: several may live in a process, with other thread counts and logs. GPUs are the exception: all engines
/// of a process compute on the same one. Destroying an engine ends its threads. Thread-safe.
class [[gnu::visibility("default")]] Engine {
 public:
  explicit Engine(EngineOptions options = {});
  ~Engine();
  Engine(const Engine&) = delete;

  /// Loads what the device needs when it is first called. Error for devices that cannot be used; says what is missing.
  /// What a Backend is, only the library itself knows.
  const Backend& backend() const;
  int threads() const;

  /// Binds the engine's threads and log to the calling thread while it lives, and ends in that thread. Whoever calls
  /// kernels has made one; the public classes make their own.
  class Scope {
   public:
    explicit Scope(Engine& engine);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    struct Bindings;
    const std::unique_ptr<Bindings> bindings_;
  };

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace dragoman
