#pragma once
#include <string_view>

namespace dragoman {

/// The languages that transformers' tokenizer of M2M100 adds to its pieces, in this order, by its `language_codes`.
inline constexpr std::string_view m2m100_languages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr "
    "ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa "
    "pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
inline constexpr std::string_view wmt21_languages = "en ha is ja cs ru zh de";

}  // namespace dragoman
