#pragma once
#include <cstddef>
#include <cstdint>

namespace dragoman {

/// Limits on what one client may use of the server. Times are seconds, for the whole of what they limit: a client that
/// sends a byte now and then does not prolong them.
struct HttpLimits {
  uint64_t body = 2 << 20;       // bytes of a request's body
  uint32_t header = 16 << 10;    // bytes of its line and headers
  size_t read_ahead = 64 << 10;  // bytes of requests that follow the one being answered
  size_t output = 16 << 20;      // bytes of events that wait for a slow reader
  double header_seconds = 10;    // to send a header, once it has begun
  double body_seconds = 60;      // to send a body, or the rest of one that was refused
  double idle_seconds = 75;      // between requests
  double write_seconds = 60;     // to receive what is written at once
  double request_seconds = 300;  // to answer a request
  double stopping_seconds = 30;  // to answer what is in flight when the server stops
};

}  // namespace dragoman
