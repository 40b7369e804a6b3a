#include "base/log.h"

#include <utility>

namespace dragoman {
namespace {

thread_local const LogSink* bound_sink = nullptr;

}  // namespace

LogScope::LogScope(const LogSink* sink) : before_(std::exchange(bound_sink, sink)) {}
LogScope::~LogScope() { bound_sink = before_; }

const LogSink* bound_log() { return bound_sink; }

void log(LogLevel level, fmt::string_view format, fmt::format_args arguments) {
  if (bound_sink) (*bound_sink)(level, fmt::vformat(format, arguments));
}

}  // namespace dragoman
