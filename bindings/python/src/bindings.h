#pragma once
// Everything of pybind11 that the module uses, so that all files convert types alike.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string_view>

namespace dragoman::python {

namespace py = pybind11;

/// One for each file of this folder; they add their classes and functions.
void add_evaluate(py::module_& module);
void add_model_file(py::module_& module);
void add_scorer(py::module_& module);
void add_translator(py::module_& module);
void add_vocabulary(py::module_& module);

/// A message for Python. A file name in it need not be UTF-8: other bytes are written as \xff.
inline py::str message_of(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), py::ssize_t(text.size()), "backslashreplace"));
}

/// A Python object that threads without the interpreter's lock may hold, copy and release.
using SharedObject = std::shared_ptr<py::object>;
inline SharedObject shared(py::object object) {
  return {new py::object(std::move(object)), [](py::object* last) {
            const py::gil_scoped_acquire lock;
            delete last;
          }};
}

}  // namespace dragoman::python
