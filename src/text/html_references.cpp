#include "text/html_references.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "base/utf8.h"
#include "text/html_reference_table.h"

namespace dragoman {
namespace {

constexpr size_t longest_name = 31;
constexpr char32_t replacement = 0xFFFD;

std::string_view take_word(std::string_view& list) {
  const size_t end = list.find(' ');
  const std::string_view word = list.substr(0, end);
  list.remove_prefix(end + 1);
  return word;
}

using Names = std::unordered_map<std::string_view, std::string_view>;

// Neither table is destroyed at the end of the process, until which threads of a program may go on translating.
const Names& names() {
  static const auto& all = *new auto([] {
    Names names;
    for (std::string_view rest = named_references(); !rest.empty();) {
      const std::string_view name = take_word(rest);
      names.emplace(name, take_word(rest));
    }
    return names;
  }());
  return all;
}

const std::unordered_set<std::string_view>& names_without_semicolon() {
  static const auto& all = *new auto([] {
    std::unordered_set<std::string_view> names;
    for (std::string_view rest = references_without_semicolon(); !rest.empty();) names.insert(take_word(rest));
    return names;
  }());
  return all;
}

// The character that the standard assigns to a number (13.2.5.80).
char32_t character_of(uint32_t number) {
  constexpr uint16_t windows_1252[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                         0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                         0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                         0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
  if (number >= 0x80 && number < 0xA0) return windows_1252[number - 0x80];
  const bool is_character = number > 0 && number <= 0x10FFFF && (number < 0xD800 || number > 0xDFFF);
  return is_character ? number : replacement;
}

int digit_of(char c, int base) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = char(c | 0x20);
  return base == 16 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// "&#233;", "&#xE9;"
HtmlReference numeric_reference(std::string_view text) {
  const bool is_hexadecimal = text.size() > 2 && (text[2] | 0x20) == 'x';
  const int base = is_hexadecimal ? 16 : 10;
  const size_t digits = is_hexadecimal ? 3 : 2;
  size_t at = digits;
  uint32_t number = 0;
  for (int digit = 0; at < text.size() && (digit = digit_of(text[at], base)) >= 0; ++at)
    number = std::min<uint32_t>(number * uint32_t(base) + uint32_t(digit), 0x110000);
  if (at == digits) return {};
  if (at < text.size() && text[at] == ';') ++at;
  return {at, to_utf8(std::u32string(1, character_of(number)))};
}

}  // namespace

HtmlReference html_reference(std::string_view text) {
  if (text.size() < 3 || text[0] != '&') return {};
  if (text[1] == '#') return numeric_reference(text);
  size_t end = 1;
  while (end < text.size() && end <= longest_name && std::isalnum(uint8_t(text[end]))) ++end;
  const std::string_view word = text.substr(1, end - 1);
  if (end < text.size() && text[end] == ';')
    if (const auto found = names().find(word); found != names().end()) return {end + 1, std::string(found->second)};
  for (size_t size = word.size(); size >= 2; --size)
    if (names_without_semicolon().contains(word.substr(0, size)))
      return {1 + size, std::string(names().at(word.substr(0, size)))};
  return {};
}

}  // namespace dragoman
