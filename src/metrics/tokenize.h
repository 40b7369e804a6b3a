#pragma once
#include <string>
#include <string_view>

#include "base/enum_names.h"
#include "dragoman/evaluate.h"

namespace dragoman {

inline std::span<const EnumName<Tokenizer>> enum_names(Tokenizer) {
  static constexpr EnumName<Tokenizer> names[] = {{Tokenizer::thirteen_a, "13a"},
                                                  {Tokenizer::intl, "intl"},
                                                  {Tokenizer::zh, "zh"},
                                                  {Tokenizer::character, "char"},
                                                  {Tokenizer::none, "none"}};
  return names;
}

/// `text` with words separated by white space, for text::split.
std::u32string tokenize(std::u32string_view text, Tokenizer tokenizer);

}  // namespace dragoman
