#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dragoman {

/// An enumerator and its word in options, configuration files and messages.
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

/// An enum with names defines, in its own namespace, `std::span<const EnumName<E>> enum_names(E)`. The argument only
/// selects the table. The three functions below use it.
template <class E>
std::string_view name_of(E value) {
  for (const auto& entry : enum_names(E{}))
    if (entry.value == value) return entry.name;
  return "?";
}

template <class E>
std::optional<E> from_name(std::string_view name) {
  for (const auto& entry : enum_names(E{}))
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

/// Throws Error unless the value is an enumerator, from 0 to `last`: C++ and C can make any number one.
template <class E>
void require_enumerator(std::string_view name, E value, E last) {
  const int number = int(value);
  if (number < 0 || number > int(last)) fail("{} is {}, expected 0 to {}", name, number, int(last));
}

/// "relu, gelu, swish": for messages.
template <class E>
std::string all_names() {
  std::string list;
  for (const auto& entry : enum_names(E{})) list.append(list.empty() ? "" : ", ").append(entry.name);
  return list;
}

}  // namespace dragoman
