#include "base/words.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(IsDigit, IsForThoseOfAscii) {
  for (const char c : {'0', '5', '9'}) EXPECT_TRUE(is_digit(c)) << c;
  for (const char c : {'/', ':', 'a', '\0', '\xb3'}) EXPECT_FALSE(is_digit(c)) << c;
  EXPECT_FALSE(is_digit(U'٣'));
}

TEST(LowerAscii, LeavesOtherLettersAlone) { EXPECT_EQ(lower_ascii("AZaz[@ÄÉ"), "azaz[@ÄÉ"); }

TEST(Trimmed, RemovesBlanksAtBothEnds) {
  EXPECT_EQ(trimmed("  a b "), "a b");
  EXPECT_EQ(trimmed("\ta "), "\ta");
  EXPECT_EQ(trimmed("\ta ", " \t"), "a");
  EXPECT_EQ(trimmed("   "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(SplitAtBlanks, TakesSeveralBlanksForOne) {
  EXPECT_THAT(split_at_blanks("  a  bc "), ElementsAre("a", "bc"));
  EXPECT_THAT(split_at_blanks("a\tb c", " \t"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_at_blanks("  "), IsEmpty());
}

TEST(SplitAt, KeepsEmptyParts) {
  EXPECT_THAT(split_at("a,,b,", ","), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_at("a|||b||", "|||"), ElementsAre("a", "b||"));
  EXPECT_THAT(split_at("", ","), ElementsAre(""));
}

TEST(HasWord, FindsWholeWords) {
  for (const char* word : {"train", "score", "translate"}) EXPECT_TRUE(has_word("train translate score", word));
  for (const char* word : {"", "rain", "trans", "core", "scores"})
    EXPECT_FALSE(has_word("train translate score", word)) << word;
  EXPECT_TRUE(has_word("ab abc", "abc"));
  EXPECT_FALSE(has_word("", ""));
  EXPECT_FALSE(has_word("a\tb", "b"));
  EXPECT_TRUE(has_word("a\tb", "b", " \t"));
}

}  // namespace
}  // namespace dragoman
