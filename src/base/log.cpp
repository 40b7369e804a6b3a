#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdlib>

namespace dragoman {
namespace {

// https://no-color.org: set and not empty.
bool colours_unwanted() {
  const char* value = std::getenv("NO_COLOR");
  return value != nullptr && *value != 0;
}

}  // namespace

void set_up_log(bool quiet) {
  // "automatic": only on a terminal.
  auto logger = spdlog::stderr_color_mt("dragoman",
                                        colours_unwanted() ? spdlog::color_mode::never : spdlog::color_mode::automatic);
  logger->set_pattern("[%Y-%m-%d %H:%M:%S] %^%v%$");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace dragoman
