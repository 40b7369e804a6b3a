#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace dragoman {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct Sequence {
  size_t bytes;
  bool valid;
};

// The allowed range of the second byte for a given first byte; the third and fourth are always 80…BF.
struct Lead {
  size_t bytes;
  uint8_t low, high;
};

Lead lead(uint8_t first) {
  if (first < 0xC2) return {0, 0, 0};  // a continuation byte, or an overlong form of ASCII
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (first == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};  // above: beyond U+10FFFF
  return {0, 0, 0};
}

// The well-formed sequence at the start of the text, or its ill-formed maximal subpart. The text is not empty.
Sequence first_sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return uint8_t(text[i]); };
  if (byte(0) < 0x80) return {1, true};
  const Lead expected = lead(byte(0));
  if (expected.bytes == 0) return {1, false};
  for (size_t i = 1; i < expected.bytes; ++i) {
    const uint8_t low = i == 1 ? expected.low : 0x80, high = i == 1 ? expected.high : 0xBF;
    if (i == text.size() || byte(i) < low || byte(i) > high) return {i, false};
  }
  return {expected.bytes, true};
}

// Counts bytes before the first ill-formed sequence. ASCII is skipped eight bytes at a time; the commonest two- and
// three-byte sequences are recognised here, so only rare ones take the exact test above.
size_t valid_prefix(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto continues = [&](size_t i) { return continues_character(text[i]); };
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight = 0x80;
    if (at + 8 <= text.size()) std::memcpy(&eight, bytes + at, 8);
    const uint8_t first = bytes[at];
    if ((eight & 0x8080808080808080) == 0) {
      at += 8;
    } else if (first < 0x80) {
      ++at;
    } else if (first >= 0xC2 && first < 0xE0 && at + 1 < text.size() && continues(at + 1)) {
      at += 2;
    } else if (first > 0xE0 && first < 0xED && at + 2 < text.size() && continues(at + 1) && continues(at + 2)) {
      at += 3;
    } else {
      const Sequence next = first_sequence(text.substr(at));
      if (!next.valid) break;
      at += next.bytes;
    }
  }
  return at;
}

}  // namespace

bool is_valid_utf8(std::string_view text) { return valid_prefix(text) == text.size(); }

bool clean_utf8(std::string& text) {
  std::string_view rest = text;
  size_t good = valid_prefix(rest);
  if (good == rest.size()) return false;
  std::string clean;
  clean.reserve(text.size() + replacement.size());
  while (good < rest.size()) {
    clean.append(rest.substr(0, good)).append(replacement);
    rest.remove_prefix(good + first_sequence(rest.substr(good)).bytes);
    good = valid_prefix(rest);
  }
  text = clean.append(rest);
  return true;
}

int character_bytes(char first) {
  const auto byte = uint8_t(first);
  if (byte < 0x80) return 1;
  return byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 0;
}

int64_t count_characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !continues_character(c); });
}

std::vector<int64_t> characters_before(std::string_view text) {
  std::vector<int64_t> before = {0};
  for (size_t i = 1; i <= text.size(); ++i)
    before.push_back(before.back() + (i == text.size() || !continues_character(text[i])));
  return before;
}

void append_utf8(std::string& text, char32_t character) {
  const auto continuation = [&](int shift) { text += char(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) {
    text += char(character);
  } else if (character < 0x800) {
    text += char(0xC0 | character >> 6);
    continuation(0);
  } else if (character < 0x10000) {
    text += char(0xE0 | character >> 12);
    continuation(6);
    continuation(0);
  } else {
    text += char(0xF0 | character >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

std::u32string code_points(std::string_view utf8) {
  std::string cleaned;
  if (!is_valid_utf8(utf8)) {
    cleaned = utf8;
    clean_utf8(cleaned);
    utf8 = cleaned;
  }
  std::u32string out;
  out.reserve(utf8.size());
  while (!utf8.empty()) {
    const int bytes = character_bytes(utf8[0]);
    char32_t character = uint8_t(utf8[0]) & (bytes == 1 ? 0x7F : 0x7F >> bytes);
    for (int i = 1; i < bytes; ++i) character = character << 6 | (uint8_t(utf8[size_t(i)]) & 0x3F);
    out.push_back(character);
    utf8.remove_prefix(size_t(bytes));
  }
  return out;
}

std::string to_utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t character : text) append_utf8(out, character);
  return out;
}

std::string beginning_of(std::string_view text) {
  size_t most = 100;
  if (text.size() <= most) return std::string(text);
  while (most > 0 && continues_character(text[most])) --most;
  return std::string(text.substr(0, most)) + "…";
}

}  // namespace dragoman
