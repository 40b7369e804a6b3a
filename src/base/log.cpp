#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace dragoman {

void set_up_log(bool quiet) {
  auto logger = spdlog::stderr_color_mt("dragoman");
  logger->set_pattern("[%Y-%m-%d %H:%M:%S] %^%v%$");
  logger->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace dragoman
