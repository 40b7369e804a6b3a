#pragma once
#include <cstdint>
#include <string>

namespace dragoman {

/// A time in seconds since 1970 as in ISO 8601, in UTC: "2026-11-27T13:05:00Z".
std::string utc_time(int64_t seconds);

}  // namespace dragoman
