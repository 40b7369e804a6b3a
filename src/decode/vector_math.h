#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace dragoman {

// Functions of single numbers without branches and calls, so that compilers make vector instructions of loops over
// them.

/// exp(x) for x <= 0, with a relative error of at most 3e-7, and 0 below -87.7: the formula of ExpOfNegative in
/// backend/cpu/simd-inl.h, for code that is not compiled for each instruction set. x = q ln 2 + r; adding a large
/// number leaves q in the lowest bits, from which the exponent follows. ln 2 is split, so that its product with q is
/// exact.
inline float exp_of_negative(float x) {
  constexpr float large = 0x1.8p23f + 127;
  x = std::bit_cast<float>(std::min(std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(-88.f)));  // at least -88
  const float sum = x * 1.44269504f + large, q = sum - large;
  const float r = x - q * 0.693359375f + q * 2.12194440e-4f;
  float y = r * 0.00831252057f + 0.0418901555f;  // minimax in relative error
  y = r * y + 0.166671142f;
  y = r * y + 0.499992311f;
  y = r * (r * y + 1) + 1;
  return y * std::bit_cast<float>(std::bit_cast<uint32_t>(sum) << 23);
}

/// log(1 + x) for x in [0, 1], with a relative error of at most 3e-7: with s = x / (2 + x),
/// log(1 + x) = log((1 + s) / (1 - s)) = 2 (s + s³/3 + s⁵/5 + …).
inline float log_of_one_plus(float x) {
  const float s = x / (2 + x), square = s * s;
  float y = square * (1.f / 13) + 1.f / 11;
  y = square * y + 1.f / 9;
  y = square * y + 1.f / 7;
  y = square * y + 1.f / 5;
  y = square * y + 1.f / 3;
  return 2 * s * (square * y + 1);
}

/// log (exp a + exp b) = max(a, b) + log(1 + exp(-|a - b|)), also where the exponentials underflow.
inline float log_sum(float a, float b) {
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  const float larger = std::bit_cast<float>(x ^ ((x ^ y) & -uint32_t(a < b)));  // without a branch
  return larger + log_of_one_plus(exp_of_negative(-std::abs(a - b)));
}

}  // namespace dragoman
