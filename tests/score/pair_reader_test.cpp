#include "score/pair_reader.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Pairs : public testing::Test {
 protected:
  PairReader reader(const std::string& source, const std::string& target) {
    return PairReader({.paths = {folder.make("s", source), folder.make("t", target)}});
  }

  TemporaryFolder folder;
};

TEST_F(Pairs, ComeInWindowsAndInOrder) {
  PairReader pairs = reader("a\nb\nc\n", "A\nB\nC\n");
  const LinePairs first = pairs.next(2), second = pairs.next(2), end = pairs.next(2);
  EXPECT_THAT(first.source, ElementsAre("a", "b"));
  EXPECT_THAT(first.target, ElementsAre("A", "B"));
  EXPECT_THAT(second.source, ElementsAre("c"));
  EXPECT_THAT(second.target, ElementsAre("C"));
  EXPECT_TRUE(end.source.empty());
  EXPECT_TRUE(pairs.next(2).source.empty()) << "the end stays the end";
}

TEST_F(Pairs, KeepEmptyLines) {
  PairReader pairs = reader("\nb\n\n", "A\n\n\n");
  EXPECT_THAT(pairs.next(10).source, ElementsAre("", "b", ""));
}

TEST_F(Pairs, OfTwoEmptyFilesAreNone) { EXPECT_TRUE(reader("", "").next(10).source.empty()); }

TEST_F(Pairs, AreTheColumnsOfATsvFile) {
  const std::string file = folder.make("st", "a\tA\n\tB\nc\tC\td\n");
  PairReader pairs({.paths = {file, file}, .tsv = true});
  const LinePairs two = pairs.next(2);
  EXPECT_THAT(two.source, ElementsAre("a", ""));
  EXPECT_THAT(two.target, ElementsAre("A", "B"));
  try {
    pairs.next(2);
    FAIL() << "a line with two tabs was taken for a pair";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(file + ", line 3: has 2 tabs, expected one"));
  }
}

TEST_F(Pairs, SayWhichFileHasMoreLinesAndHowMany) {
  for (const bool swapped : {false, true}) {
    const std::string more = "a\nbb\nccc\ndddd\n", fewer = "a\nbb\ndddd\n";
    PairReader pairs = swapped ? reader(fewer, more) : reader(more, fewer);
    EXPECT_EQ(pairs.next(2).source.size(), 2u);
    try {
      while (!pairs.next(2).source.empty()) continue;
      FAIL() << "files of different lengths were taken for pairs";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(swapped ? "/s has 3 lines" : "/s has 4 lines"));
      EXPECT_THAT(error.what(), HasSubstr(swapped ? "/t has 4" : "/t has 3"));
      EXPECT_THAT(error.what(), HasSubstr("line 3 of " + folder / (swapped ? "t" : "s")));
    }
  }
}

}  // namespace
}  // namespace dragoman
