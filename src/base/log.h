#pragma once
#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "dragoman/log_sink.h"

namespace dragoman {

/// Binds a sink to the calling thread while the scope lives. Without one, messages are dropped. A thread started to
/// work for another binds that thread's sink (with_log).
class LogScope {
 public:
  explicit LogScope(const LogSink* sink);
  ~LogScope();
  LogScope(const LogScope&) = delete;

 private:
  const LogSink* const before_;
};
const LogSink* bound_log();  // null: none

/// Wraps `f`, to be called by another thread, so that it uses the calling thread's sink.
template <class F>
auto with_log(F f) {
  return [f = std::move(f), sink = bound_log()]<class... A>(A&&... arguments) mutable {
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
