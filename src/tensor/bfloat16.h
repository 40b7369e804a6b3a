#pragma once
#include <bit>
#include <cstdint>

namespace dragoman {

/// The upper half of a float: its range with 8 bits of precision. Converted from float by rounding to nearest, ties to
/// even; NaN stays NaN.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  explicit constexpr bfloat16(float x) {
    const auto all = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (all + 0x7fff + (all >> 16 & 1)) >> 16;
    bits = uint16_t(x == x ? rounded : 0x7fc0);
  }
  constexpr operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

}  // namespace dragoman
