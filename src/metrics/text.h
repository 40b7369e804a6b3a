#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Text as code points, with the Python 3 string functions that sacreBLEU's scores depend on: characters, white space
/// and lower case are as in Python. Properties of characters come from utf8proc.
namespace dragoman::metrics {

/// str.lower(): full case mapping, with the final sigma and the dotted capital I.
std::u32string lower(std::u32string_view text);

/// str.isspace() of one character: what str.split() and str.rstrip() remove. U+3000 and the no-break space count.
bool is_space(char32_t c);

/// str.rstrip().
std::u32string_view strip_right(std::u32string_view text);

/// str.split(): the maximal runs without white space. They point into `text`.
std::vector<std::u32string_view> split(std::u32string_view text);

}  // namespace dragoman::metrics
