#pragma once
#include "model/config_fields.h"

namespace dragoman {

// The rows of model_config_fields(), in order; each table has its own file.
std::span<const ConfigField> shape_fields();       // Kind and sizes of a model, experts, norms, positions.
std::span<const ConfigField> attention_fields();   // Attention.
std::span<const ConfigField> recurrent_fields();   // Autoregression, and recurrent models.
std::span<const ConfigField> training_fields();    // Copying, embeddings, initial values, dropout, vocabularies.
std::span<const ConfigField> generation_fields();  // Special pieces around sentences, and search.

// The address of a member, by its type.
inline ConfigMember member(bool& value) { return &value; }
inline ConfigMember member(int& value) { return &value; }
inline ConfigMember member(double& value) { return &value; }
inline ConfigMember member(std::vector<int>& value) { return &value; }
template <class E>
ConfigMember member(E& value) {
  return EnumMember{&value, [](const void* at) { return name_of(*static_cast<const E*>(at)); },
                    [](void* at, std::string_view name) {
                      const auto found = from_name<E>(name);
                      if (found) *static_cast<E*>(at) = *found;
                      return found.has_value();
                    },
                    [] { return all_names<E>(); }};
}

// Headings in --help.
namespace heading {
inline constexpr std::string_view model = "Model";
inline constexpr std::string_view transformer = "Transformer";
inline constexpr std::string_view positions = "Positions";
inline constexpr std::string_view attention = "Attention";
inline constexpr std::string_view decoder = "Decoder";
inline constexpr std::string_view recurrent = "Recurrent models (--type s2s)";
inline constexpr std::string_view experts = "Mixture of experts";
inline constexpr std::string_view regularisation = "Regularisation";
}  // namespace heading

}  // namespace dragoman
