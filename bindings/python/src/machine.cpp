#include "bindings/python/src/machine.h"

namespace dragoman::python {

// Messages come from threads of all kinds, with the interpreter's lock or without it.
std::shared_ptr<Engine> engine_of(const Machine& machine) {
  return std::make_shared<Engine>(
      EngineOptions{.device = machine.device,
                    .fast_math = machine.fast_math,
                    .threads = machine.threads,
                    .log = [log = shared(machine.log)](LogLevel level, std::string_view message) {
                      const WithLock lock;
                      try {
                        (*log)(level == LogLevel::warning, message_of(message));
                      } catch (py::error_already_set& error) {
                        error.discard_as_unraisable("a log of dragoman");
                      }
                    }});
}

}  // namespace dragoman::python
