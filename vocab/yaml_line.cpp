#include "vocab/yaml_line.h"

#include <algorithm>
#include <charconv>

#include "base/number.h"
#include "base/utf8.h"
#include "base/words.h"

namespace dragoman {
namespace {

struct Escape {
  char letter;
  std::string_view text;
};

// YAML 1.2.2, section 5.7, except the escapes of hexadecimal digits.
constexpr Escape escapes[] = {{'0', {"\0", 1}}, {'a', "\a"},    {'b', "\b"},  {'t', "\t"},     {'n', "\n"},
                              {'v', "\v"},      {'f', "\f"},    {'r', "\r"},  {'e', "\x1b"},   {' ', " "},
                              {'"', "\""},      {'/', "/"},     {'\\', "\\"}, {'N', "\u0085"}, {'_', "\u00a0"},
                              {'L', "\u2028"},  {'P', "\u2029"}};

// Removes `digits` hexadecimal digits from the front of the text.
std::optional<uint32_t> take_hex(std::string_view& text, size_t digits) {
  uint32_t code = 0;
  if (text.size() < digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, code, 16);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  text.remove_prefix(digits);
  return code;
}

// Removes what follows a backslash from the text. JSON writes a character beyond U+FFFF as two surrogates.
bool take_escape(std::string_view& text, std::string& piece) {
  if (text.empty()) return false;
  const char letter = text.front();
  text.remove_prefix(1);
  if (const auto* found = std::ranges::find(escapes, letter, &Escape::letter); found != std::end(escapes)) {
    piece += found->text;
    return true;
  }
  const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  auto code = digits > 0 ? take_hex(text, digits) : std::nullopt;
  if (code && *code >= 0xD800 && *code < 0xDC00 && text.starts_with("\\u")) {
    text.remove_prefix(2);
    const auto low = take_hex(text, 4);
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
    code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
  }
  if (!code || *code > 0x10FFFF || (*code >= 0xD800 && *code <= 0xDFFF)) return false;
  append_utf8(piece, *code);
  return true;
}

// Both remove a quoted piece from the line, whose first quote is already removed.
bool take_double_quoted(std::string_view& line, std::string& piece) {
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\')
      piece += c;
    else if (!take_escape(line, piece))
      return false;
  }
  return false;
}

bool take_single_quoted(std::string_view& line, std::string& piece) {
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c == '\'' && !line.starts_with('\'')) return true;
    if (c == '\'') line.remove_prefix(1);
    piece += c;
  }
  return false;
}

// A plain piece ends at the last colon with a blank after it.
bool take_plain(std::string_view& line, std::string& piece) {
  const size_t colon = line.rfind(": ");
  if (colon == line.npos || colon == 0) return false;
  piece = trimmed(line.substr(0, colon));
  line.remove_prefix(colon);
  return true;
}

}  // namespace

std::optional<YamlEntry> parse_yaml_line(std::string_view line) {
  YamlEntry entry{};
  const char first = line.empty() ? '\0' : line.front();
  if (first == ' ') return std::nullopt;  // of something nested
  if (first == '"' || first == '\'') line.remove_prefix(1);
  const bool taken = first == '"'    ? take_double_quoted(line, entry.piece)
                     : first == '\'' ? take_single_quoted(line, entry.piece)
                                     : take_plain(line, entry.piece);
  line = trimmed(line);
  if (!taken || !line.starts_with(':')) return std::nullopt;
  line = trimmed(line.substr(1));
  const auto id = parse_number<decltype(entry.id)>(line);
  if (!id) return std::nullopt;
  entry.id = *id;
  return entry;
}

}  // namespace dragoman
