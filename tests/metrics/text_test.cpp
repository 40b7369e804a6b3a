#include "metrics/text.h"

#include <gmock/gmock.h>

namespace dragoman::metrics {

using testing::ElementsAre;
using testing::IsEmpty;

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

}  // namespace dragoman::metrics
