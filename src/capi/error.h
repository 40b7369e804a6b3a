#pragma once
#include <exception>
#include <string>

#include "base/error.h"
#include "dragoman/dragoman.h"

struct dragoman_error {
  std::string message, hint;
};

namespace dragoman {

/// An exception as C sees it.
struct Failure {
  dragoman_status status;
  dragoman_error error;
};
Failure failure_of(const std::exception_ptr& exception);

/// Runs f() for a function of the C API, from which nothing may be thrown.
template <class F>
dragoman_status guarded(dragoman_error** error, const F& f) noexcept {
  try {
    f();
    return DRAGOMAN_OK;
  } catch (...) {
    try {
      Failure failure = failure_of(std::current_exception());
      if (error) *error = new dragoman_error(std::move(failure.error));
      return failure.status;
    } catch (...) {  // there is no memory for the message
      if (error) *error = nullptr;
      return DRAGOMAN_OUT_OF_MEMORY;
    }
  }
}

/// Throws Error if a required pointer is NULL.
inline void require_given(const void* pointer, const char* name) { require(pointer, "{} is NULL", name); }

}  // namespace dragoman
