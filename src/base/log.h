#pragma once
#include <spdlog/spdlog.h>

namespace dragoman {

/// Messages for people go to stderr through spdlog's default logger (spdlog::info, spdlog::warn); stdout carries
/// results only. `set_up_log` is called once by main(): `[date time] message`, warnings marked as such.
void set_up_log(bool quiet);

}  // namespace dragoman
