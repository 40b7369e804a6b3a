#pragma once
#include "base/enum_names.h"

namespace dragoman {

/// What a linear layer applies to its output. gelu: x·Φ(x); swish: x·sigmoid(x).
enum class Activation { none, relu, gelu, swish };

inline std::span<const EnumName<Activation>> enum_names(Activation) {
  static constexpr EnumName<Activation> names[] = {
      {Activation::none, "none"}, {Activation::relu, "relu"}, {Activation::gelu, "gelu"}, {Activation::swish, "swish"}};
  return names;
}

}  // namespace dragoman
