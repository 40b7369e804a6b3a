#pragma once
#include <string>
#include <string_view>

#include "base/enum_names.h"

namespace dragoman {

/// How BLEU splits lines into words. Names and details are sacreBLEU's (Post 2018, "A Call for Clarity in Reporting
/// BLEU Scores"): equal names give equal scores.
///   thirteen_a  mteval-v13a of the NIST, which WMT reports: splits ASCII punctuation, keeps 1,000.5 whole
///   intl        mteval-v14's international one: splits the punctuation and symbols of all of Unicode
///   character   every character is a word: for Chinese, Japanese and other scripts without spaces
///   none        words are separated by white space: for text that is tokenised already
enum class Tokenizer { thirteen_a, intl, character, none };

inline std::span<const EnumName<Tokenizer>> enum_names(Tokenizer) {
  static constexpr EnumName<Tokenizer> names[] = {{Tokenizer::thirteen_a, "13a"},
                                                  {Tokenizer::intl, "intl"},
                                                  {Tokenizer::character, "char"},
                                                  {Tokenizer::none, "none"}};
  return names;
}

/// `text` with words separated by white space, for text::split.
std::u32string tokenize(std::u32string_view text, Tokenizer tokenizer);

}  // namespace dragoman
