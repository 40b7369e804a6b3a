#pragma once
#include <cmath>
#include <numbers>

#include "tensor/activation.h"

namespace dragoman::reference {

template <class T>
constexpr T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
constexpr T gelu_inner(T x) {
  return T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + T(0.044715) * x * x * x);
}

/// gelu: x·Φ(x), or 0.5x(1 + tanh(√(2/π)(x + 0.044715x³))), or x·σ(1.702x) (Hendrycks & Gimpel 2016, section 2);
/// swish: x·σ(x) (Ramachandran et al. 2017).
template <class T>
constexpr T activate(T x, Activation act) {
  switch (act) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > 0 ? x : T(0);
    case Activation::gelu:
      return x * T(0.5) * (1 + std::erf(x * T(std::numbers::sqrt2 / 2)));
    case Activation::swish:
      return x * sigmoid(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::gelu_tanh:
      return x * T(0.5) * (1 + std::tanh(gelu_inner(x)));
    case Activation::gelu_sigmoid:
      return x * sigmoid(T(1.702) * x);
  }
  return x;
}

/// d act / d x.  `saved` is y for relu and tanh, x for the others.
template <class T>
constexpr T slope(T saved, Activation act) {
  switch (act) {
    case Activation::none:
      return 1;
    case Activation::relu:
      return saved > 0 ? T(1) : T(0);
    case Activation::gelu: {
      const T below = T(0.5) * (1 + std::erf(saved * T(std::numbers::sqrt2 / 2)));
      const T density = std::exp(-saved * saved / 2) * T(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
      return below + saved * density;
    }
    case Activation::swish: {
      const T s = sigmoid(saved);
      return s * (1 + saved * (1 - s));
    }
    case Activation::tanh:
      return 1 - saved * saved;
    case Activation::gelu_tanh: {
      const T t = std::tanh(gelu_inner(saved));
      const T inner_slope = T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (1 + T(0.134145) * saved * saved);
      return T(0.5) * (1 + t) + T(0.5) * saved * (1 - t * t) * inner_slope;
    }
    case Activation::gelu_sigmoid: {
      const T s = sigmoid(T(1.702) * saved);
      return s * (1 + T(1.702) * saved * (1 - s));
    }
  }
  return 1;
}

/// The derivatives of act(a)·b with respect to a and b.
template <class T>
struct GatedSlopes {
  T first, second;
};
template <class T>
constexpr GatedSlopes<T> gated_slopes(T a, T b, Activation act) {
  const T y = activate(a, act);
  return {b * slope(slope_of_output(act) ? y : a, act), y};
}

}  // namespace dragoman::reference
