#pragma once
// Everything of pybind11 that the module uses, so that all files convert types alike.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

namespace dragoman::python {

namespace py = pybind11;

/// One for each file of this folder; they add their classes and functions.
void add_evaluate(py::module_& module);
void add_model_tools(py::module_& module);
void add_model_file(py::module_& module);
void add_scorer(py::module_& module);
void add_train(py::module_& module);
void add_translator(py::module_& module);
void add_vocabulary(py::module_& module);

/// A message for Python. A file name in it need not be UTF-8: other bytes are written as \xff.
inline py::str message_of(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), py::ssize_t(text.size()), "backslashreplace"));
}

/// Takes the interpreter's lock. If the interpreter has ended meanwhile, which daemon threads may live to see, Python
/// before 3.14 ends the thread: it unwinds the stack, which aborts the program at the first destructor on it. Like
/// later versions, this thread then waits for the end of the process.
template <class F>
void take_lock(F take) {
  try {
    take();
  } catch (...) {  // of pthread_exit(); must not be left
    for (;;) pause();
  }
}

/// Holds the interpreter's lock during its life.
class WithLock {
 public:
  WithLock() {
    take_lock([this] { lock_.emplace(); });
  }

 private:
  std::optional<py::gil_scoped_acquire> lock_;
};

/// How often a waiting thread checks for Ctrl-C.
constexpr std::chrono::milliseconds signal_interval(100);

/// Lets other Python threads run during its life.
class WithoutLock {
 public:
  WithoutLock() : thread_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    take_lock([this] { PyEval_RestoreThread(thread_); });
  }
  WithoutLock(const WithoutLock&) = delete;

 private:
  PyThreadState* const thread_;
};

/// For a daemon thread whose object was closed because the process ends: Python ends such threads without a word, so no
/// error is raised in them. Holds the interpreter's lock when called.
[[noreturn]] inline void end_with_the_process() {
  const WithoutLock unlocked;
  for (;;) pause();
}

/// A Python object that threads without the interpreter's lock may hold, copy and release.
using SharedObject = std::shared_ptr<py::object>;
inline SharedObject shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* last) {
            const WithLock lock;
            delete last;
          }};
}

}  // namespace dragoman::python
