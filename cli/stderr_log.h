#pragma once
#include <string>

#include "base/log.h"

namespace dragoman {

/// Writes messages to stderr as `[date time] message`; warnings in colour on a terminal (https://no-color.org). With
/// `quiet`, warnings only.
LogSink stderr_log(bool quiet);

/// Writes the error that ends the program. A failure to write is ignored: the exit code remains.
void report(const std::string& what, const std::string& hint);

}  // namespace dragoman
