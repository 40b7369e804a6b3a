#pragma once
#include "bindings/python/src/bindings.h"
#include "dragoman/run_event.h"

namespace dragoman::python {

/// The event as an object of dragoman/_run_event.py.
py::object object_of(const RunMoment& now, const RunEvent& event);

}  // namespace dragoman::python
