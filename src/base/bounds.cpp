#include "base/bounds.h"

#include <fmt/format.h>

#include <cmath>

namespace dragoman {

std::string to_text(Bounds bounds) {
  const bool low = std::isfinite(bounds.low), high = std::isfinite(bounds.high);
  if (low && high) return fmt::format("from {:.16g} to {:.16g}", bounds.low, bounds.high);
  if (!low && !high) return "a number that this option can hold";
  return low ? fmt::format("at least {:.16g}", bounds.low) : fmt::format("at most {:.16g}", bounds.high);
}

}  // namespace dragoman
