#pragma once
#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "base/log_sink.h"

namespace dragoman {

/// Binds a sink to the calling thread as long as the scope lives. Where none is bound, messages go nowhere. A thread
/// that is started for the work of another binds that thread's sink (with_log).
class LogScope {
 public:
  explicit LogScope(const LogSink* sink);
  ~LogScope();
  LogScope(const LogScope&) = delete;

 private:
  const LogSink* const before_;
};
const LogSink* bound_log();  // null: none

/// `f`, which another thread will call, with the sink of the thread that is here.
template <class F>
auto with_log(F f) {
  return [f = std::move(f), sink = bound_log()]<class... A>(A&&... arguments) {
    const LogScope scope(sink);
    return f(std::forward<A>(arguments)...);
  };
}

void log(LogLevel level, fmt::string_view format, fmt::format_args arguments);

template <class... A>
void log_info(fmt::format_string<A...> format, A&&... args) {
  log(LogLevel::info, format, fmt::make_format_args(args...));
}
template <class... A>
void log_warning(fmt::format_string<A...> format, A&&... args) {
  log(LogLevel::warning, format, fmt::make_format_args(args...));
}

}  // namespace dragoman
