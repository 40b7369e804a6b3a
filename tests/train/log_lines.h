#pragma once
#include <fmt/format.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"

namespace dragoman {

/// What the log of this thread says while this lives.
class LogLines {
 public:
  LogLines() = default;
  LogLines(const LogLines&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }
  std::string text() const { return fmt::format("{}", fmt::join(lines_, "\n")); }
  void clear() { lines_.clear(); }
  /// Calls f with every line, in the thread that logs it.
  void listen(std::function<void(const std::string&)> f) { listener_ = std::move(f); }

 private:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
    if (listener_) listener_(lines_.back());
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::function<void(const std::string&)> listener_;
  const LogSink sink_ = [this](LogLevel, std::string_view line) { add(line); };
  const LogScope scope_{&sink_};
};

}  // namespace dragoman
