#pragma once
#include <string>

#include "base/error.h"

namespace dragoman {

/// The error that a call throws; one without a text if it throws none.
template <class F>
Error thrown_by(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return Error("");
}

/// What the error of a call says; nothing if it throws none.
template <class F>
std::string error_of(F f) {
  return thrown_by(f).what();
}

}  // namespace dragoman
