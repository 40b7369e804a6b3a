#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman {

/// A point in a run, or how often something happens: "10e" epochs, "8000u" (or "8000") updates, "20Mt" target tokens,
/// "30m" minutes of training. Before the unit, k (or K), M and G mean thousand, million and billion. 0: never.
struct Frequency {
  enum Unit { updates, epochs, target_tokens, minutes };
  int64_t count = 0;
  Unit unit = updates;
  bool operator==(const Frequency&) const = default;
};

/// Error if `text` is not a whole number of at least 0 with one of the units.
Frequency parse_frequency(std::string_view text);

/// The shortest text that parse_frequency() parses to the same value.
std::string to_string(Frequency frequency);

}  // namespace dragoman
