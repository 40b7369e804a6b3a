#pragma once
#include <string>

#include "bindings/python/src/bindings.h"
#include "dragoman/engine.h"

namespace dragoman::python {

/// The engine options of a class. `log` receives True for warnings, and the message.
struct Machine {
  std::string device;
  int threads;
  py::object log;
  bool fast_math = false;
};
std::shared_ptr<Engine> engine_of(const Machine& machine);

}  // namespace dragoman::python
