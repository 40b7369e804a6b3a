#pragma once
#include <limits>
#include <string>

namespace dragoman {

/// Where a number must lie, both ends included.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool contain(double number) const { return number >= low && number <= high; }
};

/// "from 1 to 1024", "at least 0".
std::string to_text(Bounds bounds);

}  // namespace dragoman
