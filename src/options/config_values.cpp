#include "options/config_values.h"

namespace dragoman {

void read_words(const ConfigMember& member, const Strings& words, Bounds bounds) {
  std::visit(
      [&]<class T>(const T& at) {
        if constexpr (std::is_same_v<T, EnumMember>) {
          if (!at.set(at.value, words.at(0))) fail_choice(words[0], at.names());
        } else {
          read_words(*at, words, bounds);
        }
      },
      member);
}

Strings show_words(const ConfigField& field, ModelConfig config) {
  const ConfigMember member = field.member(config);
  if (const auto* numbers = std::get_if<std::vector<int>*>(&member)) return show_words(**numbers);
  return {to_text(member)};
}

std::string choices_of(const ConfigField& field) {
  ModelConfig config;
  const ConfigMember member = field.member(config);
  const auto* e = std::get_if<EnumMember>(&member);
  return e ? e->names() : "";
}

bool is_boolean(const ConfigField& field) {
  ModelConfig config;
  return std::holds_alternative<bool*>(field.member(config));
}

bool is_list(const ConfigField& field) {
  ModelConfig config;
  return std::holds_alternative<std::vector<int>*>(field.member(config));
}

}  // namespace dragoman
