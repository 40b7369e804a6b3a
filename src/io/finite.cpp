#include "io/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/error.h"

namespace dragoman {
namespace {

[[noreturn]] void complain(double found, const std::string& where) {
  throw Error(fmt::format("{} holds {}, expected finite numbers", where, found),
              "the model is broken: take a checkpoint from before its training diverged");
}

// NaN or infinity if a value is one. The bits of magnitudes, as integers, have the same order as the floats, with
// infinity and NaN last, and a maximum of integers vectorises.
float largest_magnitude(std::span<const float> values) {
  int32_t top = 0;
  for (const float value : values) top = std::max(top, std::bit_cast<int32_t>(value) & INT32_MAX);
  return std::bit_cast<float>(top);
}

}  // namespace

bool is_finite(std::span<const float> values) { return std::isfinite(largest_magnitude(values)); }

float require_finite(std::span<const float> values, const std::string& where) {
  const float top = largest_magnitude(values);
  if (!std::isfinite(top)) complain(top, where);
  return top;
}

void require_finite(std::span<const double> values, const std::string& where) {
  const auto found = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (found != values.end()) complain(*found, where);
}

void require_finite(const Tensor& values, const std::string& where) {
  for_dtype(values.dtype(),
            [&]<class T>() { require_finite(std::span<const T>(values.as<T>(), size_t(values.elements())), where); });
}

}  // namespace dragoman
