#pragma once
#include <functional>
#include <string_view>

namespace dragoman {

enum class LogLevel { info, warning };

/// Receives messages for people. May be called from several threads at once.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

}  // namespace dragoman
