#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// The activation applied to a linear layer's output. gelu: x·Φ(x); swish: x·sigmoid(x).
enum class Activation { none, relu, gelu, swish, tanh };

/// Whether the derivative is computed from the output y; else from the input x.
inline bool slope_of_output(Activation act) { return act == Activation::relu || act == Activation::tanh; }

inline std::span<const EnumName<Activation>> enum_names(Activation) {
  static constexpr EnumName<Activation> names[] = {{Activation::none, "none"},
                                                   {Activation::relu, "relu"},
                                                   {Activation::gelu, "gelu"},
                                                   {Activation::swish, "swish"},
                                                   {Activation::tanh, "tanh"}};
  return names;
}

}  // namespace dragoman
