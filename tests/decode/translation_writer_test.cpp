#include "decode/translation_writer.h"

#include <gmock/gmock.h>

#include "base/line_reader.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

class Writer : public testing::Test {
 protected:
  struct Part {
    std::vector<Translation> best;
    bool more = false;
  };
  std::vector<std::string> lines(const std::vector<Part>& parts) {
    LineWriter out(folder / "out");
    TranslationWriter writer(out, options, search);
    for (const Part& p : parts) writer.write(p.best, p.more);
    out.close();
    return read_lines(folder / "out");
  }

  TemporaryFolder folder;
  TranslateOptions options;
  SearchOptions search;
};

const Translation best{"ein Hund", -1.5, -0.5, 3, {-0.25, -0.25, -1}, {}}, second{"", -4, -2, 2, {-3, -1}, {}};

TEST_F(Writer, WritesTextAlone) { EXPECT_THAT(lines({{{best}}, {{second}}}), ElementsAre("ein Hund", "")); }

TEST_F(Writer, JoinsThePartsOfALine) {
  EXPECT_THAT(lines({{{best}, true}, {{second}, true}, {{best}}, {{second}, true}, {{best}}, {{second}}}),
              ElementsAre("ein Hund ein Hund", "ein Hund", ""));
}

TEST_F(Writer, WritesNBestListsAsMarianDoes) {
  search.n_best = 2;
  EXPECT_THAT(
      lines({{{best, second}}, {{Translation{}}}}),
      ElementsAre("0 ||| ein Hund ||| F0= -1.5 ||| -0.5", "0 |||  ||| F0= -4 ||| -2", "1 |||  ||| F0= 0 ||| 0"));
}

TEST_F(Writer, WritesAFeatureForEachModel) {
  search.n_best = 1;
  Translation t = best;
  t.by_model = {-1, -2};
  EXPECT_THAT(lines({{{t}}}), ElementsAre("0 ||| ein Hund ||| F0= -1 F1= -2 ||| -0.5"));
}

TEST_F(Writer, WritesWordScoresAsMarianDoes) {
  options.word_scores = true;
  EXPECT_THAT(lines({{{best}}}), ElementsAre("ein Hund ||| WordScores= -0.25000 -0.25000 -1.00000"));
  options.scores = true;
  EXPECT_THAT(lines({{{second}}}), ElementsAre("-4\t ||| WordScores= -3.00000 -1.00000"));
  options.scores = false;
  search.n_best = 1;
  EXPECT_THAT(lines({{{second}}}), ElementsAre("0 |||  ||| WordScores= -3.00000 -1.00000 ||| F0= -4 ||| -2"));
}

TEST_F(Writer, AddsUpTheScoresOfAJoinedLine) {  // the shorter list repeats its last
  search.n_best = 2;
  EXPECT_THAT(lines({{{best}, true}, {{best, second}}}),
              ElementsAre("0 ||| ein Hund ein Hund ||| F0= -3 ||| -1", "0 ||| ein Hund ||| F0= -5.5 ||| -2.5"));
}

// Log-probabilities over the sum of the lengths would be -1.9 for the first and -1.2 for the second.
TEST_F(Writer, WritesTheBestOfAJoinedLineFirst) {
  const std::vector<Translation> begin = {{"a", -1, -1, 1, {}, {}}, {"b", -11, -1.1, 10, {}, {}}},
                                 end = {{"c", -20, -2, 10, {}, {}}, {"d", -2.1, -2.1, 1, {}, {}}};
  EXPECT_THAT(lines({{begin, true}, {end}}), ElementsAre("a c"));
  search.n_best = 2;
  EXPECT_THAT(lines({{begin, true}, {end}}),
              ElementsAre("0 ||| a c ||| F0= -21 ||| -3", "0 ||| b d ||| F0= -13.1 ||| -3.2"));
}

}  // namespace
}  // namespace dragoman
