#pragma once
#include <bit>
#include <cstdint>

namespace dragoman {

/// IEEE 754 binary16: 11 bits of precision, largest number 65,504, smallest 2⁻²⁴. Converted from float by rounding to
/// nearest, ties to even; overflow becomes infinity, NaN stays NaN.
struct float16 {
  uint16_t bits = 0;

  float16() = default;
  explicit constexpr float16(float x) {
    constexpr uint32_t infinite = 0x7f800000, too_large = 0x477ff000, least_normal = 0x38800000;
    const auto all = std::bit_cast<uint32_t>(x);
    const uint32_t sign = all >> 16 & 0x8000, size = all & 0x7fffffff;
    const float magnitude = std::bit_cast<float>(size);
    uint32_t half = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
    if (size < least_normal)
      half = std::bit_cast<uint32_t>(magnitude + 0.5f) - 0x3f000000;  // rounds to multiples of 2⁻²⁴, the spacing at 0.5
    if (size >= too_large) half = 0x7c00;
    if (size > infinite) half = 0x7e00;
    bits = uint16_t(sign | half);
  }
  constexpr operator float() const {
    const uint32_t sign = uint32_t{bits} << 16 & 0x80000000, size = bits & 0x7fff;
    if (size < 0x400) return (sign ? -1.0f : 1.0f) * float(size) * 0x1p-24f;
    return std::bit_cast<float>(sign | ((size << 13) + (size < 0x7c00 ? 0x38000000 : 0x70000000)));
  }
};

}  // namespace dragoman
