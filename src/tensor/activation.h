#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// The activation applied to a linear layer's output. gelu: x·Φ(x) (Hendrycks & Gimpel 2016), and the two
/// approximations of it that the paper gives and other programs use: gelu_tanh (fairseq's gelu_fast, T5) and
/// gelu_sigmoid, x·sigmoid(1.702x) (Marian); swish: x·sigmoid(x).
enum class Activation { none, relu, gelu, swish, tanh, gelu_tanh, gelu_sigmoid };

/// Whether the derivative is computed from the output y; else from the input x.
inline bool slope_of_output(Activation act) { return act == Activation::relu || act == Activation::tanh; }

inline std::span<const EnumName<Activation>> enum_names(Activation) {
  static constexpr EnumName<Activation> names[] = {{Activation::none, "none"},
                                                   {Activation::relu, "relu"},
                                                   {Activation::gelu, "gelu"},
                                                   {Activation::swish, "swish"},
                                                   {Activation::tanh, "tanh"},
                                                   {Activation::gelu_tanh, "gelu-tanh"},
                                                   {Activation::gelu_sigmoid, "gelu-sigmoid"}};
  return names;
}

}  // namespace dragoman
