#include "metrics/text.h"

#include <gmock/gmock.h>

namespace dragoman::text {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextDecode, ReadsSequencesOfEveryLength) { EXPECT_EQ(decode("aé中😀"), U"aé中😀"); }

TEST(TextDecode, KeepsNul) { EXPECT_EQ(decode(std::string_view("a\0b", 3)), std::u32string(U"a\0b", 3)); }

// bytes.decode("utf-8", errors="replace") of Python 3.11 gives the same.
TEST(TextDecode, ReplacesEachIllFormedSubpart) {
  EXPECT_EQ(decode("a\xFF\xFE z"), U"a\uFFFD\uFFFD z");
  EXPECT_EQ(decode("\xC3"), U"\uFFFD");
  EXPECT_EQ(decode("\xE4\xB8 x"), U"\uFFFD x");
  EXPECT_EQ(decode("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");
}

TEST(TextLower, MapsLettersOfEveryScript) { EXPECT_EQ(lower(U"ÄÖÜẞ ЖŽ Ǆ Ⅷ Ⓐ"), U"äöüß жž ǆ ⅷ ⓐ"); }

TEST(TextLower, KeepsTheDotOfTheTurkishCapitalI) { EXPECT_EQ(lower(U"\u0130x"), U"i\u0307x"); }

// Unicode 15, section 3.13, table 3-17: after a cased letter and not before one, case-ignorable marks aside.
TEST(TextLower, WritesTheFinalSigmaWhereAWordEnds) {
  EXPECT_EQ(lower(U"ΣΑΣ ΣΑΣ"), U"σας σας");
  EXPECT_EQ(lower(U"Σ"), U"σ");
  EXPECT_EQ(lower(U"Α'Σ'"), U"α'ς'");
  EXPECT_EQ(lower(U"ΑΣ'Α"), U"ασ'α");
}

TEST(TextSplit, TakesNoBreakAndIdeographicBlanksForWhiteSpace) {
  EXPECT_THAT(split(U"\ta\u00A0b\u3000c\u2028\x1C d \r"), ElementsAre(U"a", U"b", U"c", U"d"));
}

TEST(TextSplit, DoesNotSplitAtZeroWidthCharacters) {
  EXPECT_THAT(split(U"a\u200Bb\uFEFF"), ElementsAre(U"a\u200Bb\uFEFF"));
}

TEST(TextSplit, FindsNoWordsInBlanks) {
  EXPECT_THAT(split(U""), IsEmpty());
  EXPECT_THAT(split(U" \u2003\t"), IsEmpty());
}

TEST(TextStripRight, LeavesTheLeftSide) { EXPECT_EQ(strip_right(U" a b \u3000\n"), U" a b"); }

}  // namespace dragoman::text
