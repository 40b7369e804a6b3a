#include "cli/stderr_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>

namespace dragoman {
namespace {

bool colours_unwanted() {
  const char* value = std::getenv("NO_COLOR");
  return value != nullptr && *value != 0;
}

}  // namespace

LogSink stderr_log(bool quiet) {
  // "automatic": only on a terminal.
  const auto colours = colours_unwanted() ? spdlog::color_mode::never : spdlog::color_mode::automatic;
  const auto logger =
      std::make_shared<spdlog::logger>("dragoman", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours));
  logger->set_pattern("[%Y-%m-%d %H:%M:%S] %^%v%$");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  return [logger](LogLevel level, std::string_view message) {
    logger->log(level == LogLevel::warning ? spdlog::level::warn : spdlog::level::info, message);
  };
}

void report(const std::string& what, const std::string& hint) {
  std::string text = fmt::format("error: {}\n", what);
  if (!hint.empty()) text += fmt::format("  hint: {}\n", hint);
  std::fputs(text.c_str(), stderr);
}

}  // namespace dragoman
