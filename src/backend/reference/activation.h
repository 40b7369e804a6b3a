#pragma once
#include <cmath>
#include <numbers>

#include "tensor/activation.h"

namespace dragoman::reference {

/// gelu: x·Φ(x) (Hendrycks & Gimpel 2016), swish: x·σ(x) (Ramachandran et al. 2017).
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
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
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
      const T sigmoid = 1 / (1 + std::exp(-saved));
      return sigmoid * (1 + saved * (1 - sigmoid));
    }
    case Activation::tanh:
      return 1 - saved * saved;
  }
  return 1;
}

}  // namespace dragoman::reference
