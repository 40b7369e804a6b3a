#pragma once
#include "base/enum_names.h"

namespace dragoman {

enum class Shell { bash, zsh, fish };

inline std::span<const EnumName<Shell>> enum_names(Shell) {
  static constexpr EnumName<Shell> names[] = {{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}};
  return names;
}

struct CompletionOptions {
  Shell shell = Shell::bash;
};

}  // namespace dragoman
