#include "base/file_error.h"
#include "bindings/python/src/bindings.h"
#include "dragoman/dragoman.h"
#include "dragoman/error.h"
#include "tensor/arena.h"

namespace dragoman::python {
namespace {

void raise_error(const Error& error) {
  const py::object type = py::module_::import("dragoman._error").attr("Error");
  PyErr_SetObject(type.ptr(), type(message_of(error.what()), message_of(error.hint())).ptr());
}

void raise(std::exception_ptr exception) {  // NOLINT(performance-unnecessary-value-param): pybind11 wants it so
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const OutOfMemory& error) {
    PyErr_SetObject(PyExc_MemoryError, message_of(error.what()).ptr());
  } catch (const Error& error) {
    raise_error(error);
  } catch (const std::filesystem::filesystem_error& error) {
    raise_error(error_of(error));
  }
}

}  // namespace
}  // namespace dragoman::python

// The package's Python files give this its shape; dragoman/_dragoman.pyi describes it.
PYBIND11_MODULE(_dragoman, module) {
  using namespace dragoman::python;
  py::register_exception_translator(raise);
  module.attr("__version__") = dragoman_version();
  add_vocabulary(module);
  add_translator(module);
  add_scorer(module);
  add_evaluate(module);
  add_model_file(module);
  add_train(module);
  add_model_tools(module);
}
