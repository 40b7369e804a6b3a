#pragma once
#include "base/log.h"

namespace dragoman {

/// Writes messages to stderr as `[date time] message`; warnings in colour on a terminal (https://no-color.org). With
/// `quiet`, warnings only.
LogSink stderr_log(bool quiet);

}  // namespace dragoman
