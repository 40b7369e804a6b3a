#include "metrics/text.h"

#include <utf8proc.h>

#include <algorithm>

namespace dragoman::metrics {
namespace {

// The two Unicode properties used by the final sigma rule, section 3.13, definitions D135 and D136.
bool is_cased(char32_t c) {
  switch (utf8proc_category(utf8proc_int32_t(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      break;
  }
  // Other_Lowercase and Other_Uppercase: ordinal indicators, Roman numerals, circled and squared letters.
  return c == 0xAA || c == 0xBA || (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool is_case_ignorable(char32_t c) {
  switch (utf8proc_category(utf8proc_int32_t(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  // Word_Break = MidLetter, MidNumLet or Single_Quote: apostrophes, full stops and middle dots within words.
  static constexpr std::u32string_view marks =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  return marks.find(c) != marks.npos;
}

// Whether the sigma at `at` ends a word: a cased letter precedes it and none follows, skipping ignorable characters.
bool is_final_sigma(std::u32string_view text, size_t at) {
  size_t before = at, after = at + 1;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return before > 0 && is_cased(text[before - 1]) && (after == text.size() || !is_cased(text[after]));
}

}  // namespace

std::u32string lower(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == U'\u0130') {
      out += U"i\u0307";
    } else if (c == U'\u03A3') {
      out += is_final_sigma(text, i) ? U'\u03C2' : U'\u03C3';
    } else {
      out += char32_t(utf8proc_tolower(utf8proc_int32_t(c)));
    }
  }
  return out;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

std::u32string_view strip_right(std::u32string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::u32string_view> split(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = std::find_if_not(text.begin() + i, text.end(), is_space) - text.begin();
    const size_t end = std::find_if(text.begin() + begin, text.end(), is_space) - text.begin();
    if (begin < end) words.push_back(text.substr(begin, end - begin));
    i = end;
  }
  return words;
}

}  // namespace dragoman::metrics
