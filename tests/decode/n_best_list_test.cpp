#include "decode/n_best_list.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(NBestEntry, IsALineOfTranslate) {
  const NBestEntry e = n_best_entry("12 ||| ein Hund . ||| F0= -1.5 F1= -2 ||| -0.3", "here");
  EXPECT_EQ(e.line, 12);
  EXPECT_EQ(e.text, "ein Hund .");
  EXPECT_EQ(e.word_scores, "");
  EXPECT_EQ(e.features, "F0= -1.5 F1= -2");
  EXPECT_EQ(e.rest, " ||| -0.3");
}

TEST(NBestEntry, MayHoldWordScoresAndMoreFields) {
  const NBestEntry e = n_best_entry("0 ||| a ||| WordScores= -1 -2 ||| LM= -3 ||| -1 ||| 0-0", "here");
  EXPECT_EQ(e.text, "a");
  EXPECT_EQ(e.word_scores, "WordScores= -1 -2");
  EXPECT_EQ(e.features, "LM= -3");
  EXPECT_EQ(e.rest, " ||| -1 ||| 0-0");
}

TEST(NBestEntry, MayHoldAnAlignment) {
  const NBestEntry e = n_best_entry("0 ||| a b ||| 0-0 2-1 ||| WordScores= -1 -2 ||| F0= -3 ||| -1", "here");
  EXPECT_EQ(e.text, "a b");
  EXPECT_EQ(e.alignment, "0-0 2-1");
  EXPECT_EQ(e.word_scores, "WordScores= -1 -2");
  EXPECT_EQ(n_best_entry("0 ||| a ||| 0.5,0.5 1e-05,1 ||| F0= -3 ||| -1", "here").alignment, "0.5,0.5 1e-05,1");
  EXPECT_EQ(n_best_entry("0 ||| 0-0 ||| F0= -3 ||| -1", "here").text, "0-0");            // the first field is the text
  const NBestEntry unlinked = n_best_entry("0 ||| a b |||  ||| F0= -3 ||| -1", "here");  // --alignment 0.9
  EXPECT_EQ(unlinked.text, "a b");
  EXPECT_EQ(unlinked.alignment, "");
}

TEST(NBestEntry, MayBeEmptyOrHoldBarsInItsText) {
  EXPECT_EQ(n_best_entry("1 |||  ||| F0= 0 ||| 0", "here").text, "");
  EXPECT_EQ(n_best_entry("1 ||| a ||| b ||| F0= 0 ||| 0", "here").text, "a ||| b");
}

TEST(NBestEntry, ComesBackAsItWas) {
  for (const char* line : {"0 ||| ein Hund ||| F0= -1.5 ||| -0.3", "1 |||  ||| F0= 0 ||| 0", "2 ||| a ||| F0= 1",
                           "3 ||| a ||| b ||| WordScores= -1 ||| F0= -1 F1= -2 ||| -1",
                           "4 ||| a ||| 0-0 ||| WordScores= -1 ||| F0= -1 ||| -1", "5 ||| a ||| 1,0 ||| F0= 1",
                           "6 ||| a |||  ||| F0= 1 ||| -1"})
    EXPECT_EQ(to_line(n_best_entry(line, "here")), line);
}

TEST(NBestEntry, IsNothingElse) {
  for (const char* line : {"", "text", "x ||| a ||| F0= 1", "-1 ||| a ||| F0= 1", "0 ||| a ||| b", "0 ||| F0= 1", "0"})
    try {
      n_best_entry(line, "list, line 7");
      FAIL() << line;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("list, line 7: expected 'number ||| translation ||| Name= value'"));
    }
}

}  // namespace
}  // namespace dragoman
