#include "base/utf8.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

// The text with every U+FFFD written as '?'.
std::string cleaned(std::string text) {
  clean_utf8(text);
  for (size_t at; (at = text.find("\xEF\xBF\xBD")) != std::string::npos;) text.replace(at, 3, "?");
  return text;
}

TEST(CleanUtf8, LeavesValidTextAlone) {
  for (std::string text : {std::string(), std::string("plain text, longer than eight bytes"), std::string("a\0b", 3),
                           std::string("Grüße, 京都 🙂 \u2028 \u00A0 \U0010FFFF \uD7FF \uE000 \uFFFD")}) {
    const std::string before = text;
    EXPECT_FALSE(clean_utf8(text));
    EXPECT_EQ(text, before);
    EXPECT_TRUE(is_valid_utf8(text));
  }
}

// Tables 3-8 to 3-11 of the Unicode Standard, version 15, section 3.9.
TEST(CleanUtf8, ReplacesMaximalSubpartsAsTheUnicodeStandardShows) {
  EXPECT_EQ(cleaned("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), "????????A");
  EXPECT_EQ(cleaned("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), "????????A");
  EXPECT_EQ(cleaned("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), "?????A??B");
  EXPECT_EQ(cleaned("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "????A");
}

TEST(CleanUtf8, SeesASequenceThatTheEndOfTheTextCutsOff) {
  EXPECT_EQ(cleaned("ab\xF0\x9F\x99"), "ab?");
  EXPECT_EQ(cleaned("12345678\xE4"), "12345678?");
  EXPECT_FALSE(is_valid_utf8("12345678\xE4\xBA"));
}

TEST(CharacterBytes, AreKnownFromTheFirstOne) {
  for (const std::string_view character : {"a", "é", "中", "😀"})
    EXPECT_EQ(character_bytes(character[0]), int(character.size()));
  EXPECT_EQ(character_bytes('\x80'), 0);
  EXPECT_EQ(character_bytes('\xBF'), 0);
}

TEST(CountCharacters, CountsCodePoints) {
  EXPECT_EQ(count_characters(""), 0);
  EXPECT_EQ(count_characters("aé中😀"), 4);
}

TEST(CodePoints, AreThoseOfSequencesOfEveryLength) { EXPECT_EQ(code_points("aé中😀"), U"aé中😀"); }

TEST(CodePoints, KeepNul) { EXPECT_EQ(code_points(std::string_view("a\0b", 3)), std::u32string(U"a\0b", 3)); }

// bytes.decode("utf-8", errors="replace") of Python 3.11 gives the same.
TEST(CodePoints, HaveAReplacementForEachIllFormedSubpart) {
  EXPECT_EQ(code_points("a\xFF\xFE z"), U"a\uFFFD\uFFFD z");
  EXPECT_EQ(code_points("\xC3"), U"\uFFFD");
  EXPECT_EQ(code_points("\xE4\xB8 x"), U"\uFFFD x");
  EXPECT_EQ(code_points("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");
}

// The first and the last code point of each length.
TEST(ToUtf8, IsTheInverseOfCodePoints) {
  const std::u32string text = U"\u0001\u007F\u0080\u07FF\u0800\uFFFF\U00010000\U0010FFFF";
  EXPECT_EQ(to_utf8(text), "\u0001\u007F\u0080\u07FF\u0800\uFFFF\U00010000\U0010FFFF");
  EXPECT_EQ(code_points(to_utf8(text)), text);
}

TEST(BeginningOf, CutsBetweenCharacters) {
  const std::string hundred(100, 'x');
  EXPECT_EQ(beginning_of(""), "");
  EXPECT_EQ(beginning_of(hundred), hundred);
  EXPECT_EQ(beginning_of(hundred + "y"), hundred + "…");
  EXPECT_EQ(beginning_of(hundred.substr(2) + "€€"), hundred.substr(2) + "…");
  EXPECT_EQ(beginning_of(std::string(1000, '\x80')), "…");
}

}  // namespace
}  // namespace dragoman
