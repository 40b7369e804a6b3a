#pragma once
#include <memory>
#include <string>

#include "dragoman/log_sink.h"

namespace dragoman {

struct Backend;
class Communicator;

struct EngineOptions {
  std::string device = "cpu";     // or "cuda:0", the first GPU
  bool fast_math = false;         // on a GPU, float32 products may round their factors to TF32
  int threads = 0;                // at most 4,095; 0: OMP_NUM_THREADS, or else one per core that the process may use
  LogSink log = {};               // empty: messages are discarded
  Communicator* ranks = nullptr;  // all processes of a run; null: only this one. Internal to the library
};

/// The resources of one use of dragoman: a backend, threads and a log. Engines are independent: several may exist in a
/// process, with different thread counts and logs. GPUs are the exception: all engines of a process compute on the same
/// one. Destroying an engine ends its threads. Thread-safe. A child of fork() has no threads: it can only destroy the
/// engine and the objects that use it.
class [[gnu::visibility("default")]] Engine {
 public:
  explicit Engine(EngineOptions options = {});
  ~Engine();
  Engine(const Engine&) = delete;

  /// Loads what the device needs on the first call. Throws Error for an unusable device and says what is missing.
  /// The definition of Backend is internal to the library.
  const Backend& backend() const;
  int threads() const;
  Communicator& ranks() const;

  /// Binds the engine's threads and log to the calling thread for its lifetime. Required for calling
  /// kernels; the public classes make their own. Destroy it in the same thread. Error in a child of fork().
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
  std::unique_ptr<State> state_;
};

}  // namespace dragoman
