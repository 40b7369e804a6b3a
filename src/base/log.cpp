#include "base/log.h"

#include <utility>

namespace dragoman {
namespace {

thread_local const LogSink* bound = nullptr;

}  // namespace

LogScope::LogScope(const LogSink* sink) : before_(std::exchange(bound, sink)) {}
LogScope::~LogScope() { bound = before_; }

const LogSink* bound_log() { return bound; }

void log(LogLevel level, fmt::string_view format, fmt::format_args arguments) {
  if (bound) (*bound)(level, fmt::vformat(format, arguments));
}

}  // namespace dragoman
