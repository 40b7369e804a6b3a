#pragma once
#include <utility>

#include "model/config.h"

namespace dragoman {

/// The activations of transformers. The first name of an activation is the one that is written.
inline constexpr std::pair<const char*, Activation> huggingface_activations[] = {
    {"relu", Activation::relu},          {"gelu", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh}, {"gelu_fast", Activation::gelu_tanh},
    {"swish", Activation::swish},        {"silu", Activation::swish},
    {"tanh", Activation::tanh},          {"quick_gelu", Activation::gelu_sigmoid},
    {"linear", Activation::none}};

}  // namespace dragoman
