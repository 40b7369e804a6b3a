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
