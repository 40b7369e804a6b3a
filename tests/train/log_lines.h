#pragma once
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace dragoman {

/// What the log says while this lives, instead of stderr.
class LogLines {
 public:
  LogLines() : sink_(std::make_shared<Sink>()), before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink_));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;

  const std::vector<std::string>& lines() const { return sink_->lines; }
  std::string text() const { return fmt::format("{}", fmt::join(lines(), "\n")); }
  void clear() { sink_->lines.clear(); }
  /// Calls f with every line, in the thread that logs it.
  void listen(std::function<void(const std::string&)> f) { sink_->listener = std::move(f); }

 private:
  struct Sink : spdlog::sinks::base_sink<std::mutex> {
    void sink_it_(const spdlog::details::log_msg& message) override {
      lines.emplace_back(message.payload.data(), message.payload.size());
      if (listener) listener(lines.back());
    }
    void flush_() override {}
    std::vector<std::string> lines;
    std::function<void(const std::string&)> listener;
  };
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace dragoman
