#include "data/parallel_text.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/data/open_pipe.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Pair = std::array<std::string, 2>;

std::vector<Pair> read_all(ParallelReader& reader) {
  std::vector<Pair> pairs;
  for (Pair pair; reader.next(pair);) pairs.push_back(pair);
  return pairs;
}

std::string message(const std::vector<TextPair>& texts) {
  try {
    ParallelReader reader(texts);
    read_all(reader);
  } catch (const Error& error) {
    return std::string(error.what()) + "\n" + error.hint();
  }
  return "";
}

TEST(TextPairs, AreTwoFilesEachOrOneWithBothColumns) {
  const auto two = text_pairs("train-sets", {"a.en", "a.de", "b.en", "b.de"}, false);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_THAT(two[1].paths, ElementsAre("b.en", "b.de"));
  EXPECT_EQ(text_name(two), "a.en, b.en and a.de, b.de");
  for (const char* name : {"a.tsv", "a.tsv.gz", "a.tsv.xz", "a.tsv.zst"})
    EXPECT_THAT(
        [&] {
          text_pairs("train-sets", {"a.en", name}, false);
        },
        ThrowsMessage<Error>(HasSubstr("contains both sides, according to its name")));
  EXPECT_EQ(text_pairs("train-sets", {"a.tsv.en", "tsv"}, false).size(), 1u);
  const auto tsv = text_pairs("train-sets", {"a.tsv", "b.tsv"}, true);
  ASSERT_EQ(tsv.size(), 2u);
  EXPECT_THAT(tsv[1].paths, ElementsAre("b.tsv", "b.tsv"));
  EXPECT_EQ(text_name(tsv), "a.tsv, b.tsv");
}

TEST(TextPairs, OfAnOddNumberOfFilesOrOfNoneAreAnError) {
  EXPECT_THAT(
      [] {
        text_pairs("train-sets", {"a", "b", "c"}, false);
      },
      ThrowsMessage<Error>(HasSubstr("--train-sets takes two files for each corpus, source and target, found "
                                     "3: a b c")));
  EXPECT_THAT([] { text_pairs("train-sets", {}, true); }, ThrowsMessage<Error>(HasSubstr("--train-sets names no")));
  EXPECT_THAT([] { text_pairs("train-sets", {"-", "-"}, false); }, ThrowsMessage<Error>(HasSubstr("only one file")));
}

TEST(ParallelReader, ReadsOneCorpusAfterTheOther) {
  const TemporaryFolder files;
  ParallelReader reader({{{files.make("a", "1\n2\n"), files.make("b", "eins\nzwei\n")}},
                         {{files.make("c", ""), files.make("d", "")}},
                         {{files.make("e", "3\teins zwei\n\t\n"), files / "e"}, true}});
  EXPECT_THAT(read_all(reader),
              ElementsAre(Pair{"1", "eins"}, Pair{"2", "zwei"}, Pair{"3", "eins zwei"}, Pair{"", ""}));
  EXPECT_EQ(reader.lines(), 4);
  EXPECT_THAT(reader.ends(), ElementsAre(2, 2, 4));
  EXPECT_EQ(reader.share(), 1);
}

TEST(ParallelReader, ReportsHowMuchItHasRead) {
  const TemporaryFolder files;
  const std::vector<TextPair> text = {{{files.make("a", "12345\n\n\n"), files.make("b", "\n\n\n")}}};
  ParallelReader reader(text);
  Pair pair;
  EXPECT_EQ(reader.share(), 0);
  reader.next(pair);
  EXPECT_EQ(reader.share(), 0.75);
}

TEST(ParallelReader, OfATsvNeedsOneTabALineAndSaysWhereThereIsNone) {
  const TemporaryFolder files;
  const auto tsv = [&](const std::string& text) {
    return text_pairs("train-sets", {files.make("ok", "a\tb\n"), files.make("tsv", text)}, true);
  };
  EXPECT_EQ(message(tsv("a\tb\n\tb\na\t\n")), "");
  EXPECT_THAT(message(tsv("a\tb\nc d\n")),
              AllOf(HasSubstr(files / "tsv" + ", line 2: has no tab, expected one"), HasSubstr("without it")));
  EXPECT_THAT(message(tsv("a\tb\tc\n")),
              AllOf(HasSubstr(files / "tsv" + ", line 1: has 2 tabs, expected one"), HasSubstr("cut -f 1,2")));
}

TEST(ParallelReader, NamesTheCorpusWhoseSidesDoNotPair) {
  const TemporaryFolder files;
  const std::string a = files.make("a", "1\n"), b = files.make("b", "1\n2\n");
  EXPECT_THAT(message({{{a, a}}, {{a, b}}}),
              AllOf(HasSubstr(a + " has 1 lines, " + b + " has 2"), HasSubstr("line 2 of " + b + " is the first")));
}

TEST(ParallelReader, ReadsTheWeightOfEachPair) {
  const TemporaryFolder files;
  auto texts = text_pairs("train-sets", {files.make("a", "1\n2\n"), files / "a", files / "a", files / "a"}, false);
  add_notes(texts, {files.make("w", "0.5\n3e-1\n"), files.make("v", "0 \n \t2\t\r\n")}, {});
  ParallelReader reader(texts);
  Pair pair;
  for (const float expected : {0.5f, 0.3f, 0.0f, 2.0f}) {
    ASSERT_TRUE(reader.next(pair));
    EXPECT_EQ(reader.weight(), expected);
  }
  EXPECT_FALSE(reader.next(pair));
}

TEST(ParallelReader, NeedsAWeightForEachPairAndNothingElse) {
  const TemporaryFolder files;
  const auto weighted = [&](const std::string& weights) {
    auto texts = text_pairs("train-sets", {files.make("a", "1\n2\n"), files.make("b", "1\n2\n")}, false);
    add_notes(texts, {files.make("w", weights)}, {});
    return texts;
  };
  EXPECT_EQ(message(weighted("1\n1")), "");
  EXPECT_EQ(message(weighted("0\n1e25")), "");
  EXPECT_THAT(message(weighted("1\n")), HasSubstr(files / "w" + " has 1 lines, " + files / "a" + " has 2"));
  EXPECT_THAT(message(weighted("1\n1\n1\n")), HasSubstr(files / "w" + " has 3 lines, " + files / "a"));
  for (const std::string bad : {"", " ", "x", "-1", "1 1", "1 \t1 ", "1\u00a0", "nan", "inf", "1e99", "1e38", "1.1e25"})
    EXPECT_THAT(
        message(weighted("1\n" + bad + "\n")),
        HasSubstr(files / "w" + ", line 2: '" + bad + "' is not a weight, expected 0 or a number from 1e-37 to 1e25"));
  auto two = weighted("1\n1\n");
  EXPECT_THAT(
      [&] {
        add_notes(two, {"w", "v"}, {});
      },
      ThrowsMessage<Error>(HasSubstr("--data-weighting names 2 files, --train-sets 1 corpora")));
}

TEST(ParallelReader, ReadsWeightsAndLinksFromColumns) {
  const TemporaryFolder files;
  const std::string text = files.make("a", "0-0 1-0\tx y\tz\t0.5\n\tu\tv\t2\n");
  auto texts = text_pairs("train-sets", {text}, true);
  add_notes(texts, {"3"}, {"0"});
  ParallelReader reader(texts);
  Pair pair;
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair, (Pair{"x y", "z"}));
  EXPECT_EQ(reader.weight(), 0.5f);
  EXPECT_EQ(reader.take_links().links, (std::vector<TokenLink>{{0, 0}, {1, 0}}));
  ASSERT_TRUE(reader.next(pair));
  EXPECT_EQ(pair, (Pair{"u", "v"}));
  EXPECT_EQ(reader.weight(), 2);
  EXPECT_TRUE(reader.take_links().links.empty());
  EXPECT_FALSE(reader.next(pair));
}

TEST(ParallelReader, NeedsTheColumnsThatOptionsName) {
  const TemporaryFolder files;
  const auto read = [&](const std::string& line, const std::vector<std::string>& weights,
                        const std::vector<std::string>& links) {
    auto texts = text_pairs("train-sets", {files.make("a", "x\ty\t0-0\n" + line + "\n")}, true);
    try {
      add_notes(texts, weights, links);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return message(texts);
  };
  EXPECT_EQ(read("x\ty\t0-0", {}, {"2"}), "");
  EXPECT_THAT(read("x\ty", {}, {"2"}), HasSubstr(files / "a" + ", line 2: has 1 tab, expected 2, between source, "
                                                               "target and the columns of other options"));
  EXPECT_THAT(read("x\ty\t0-0\t1", {}, {"2"}), HasSubstr("line 2: has 3 tabs, expected 2"));
  EXPECT_THAT(read("x\ty\tword", {}, {"2"}), HasSubstr(files / "a" + ", line 2: 'word' is not a link"));
  EXPECT_THAT(read("x\ty\tword", {"2"}, {}), HasSubstr(files / "a" + ", line 1: '0-0' is not a weight"));
  EXPECT_THAT(read("x\ty\t0-0", {}, {"3"}), HasSubstr("--guided-alignment 3: with --tsv, a number is a column"));
  EXPECT_THAT(read("x\ty\t0-0", {"2"}, {"2"}), HasSubstr("are the same column"));
}

TEST(ParallelReader, WaitsForAPipeUntilItIsStopped) {
  const TemporaryFolder files;
  OpenPipe pipe(files / "pipe", "a\tb\nc");  // half a line
  ParallelReader reader(text_pairs("train-sets", {pipe.path}, true));
  std::stop_source stop;
  Pair pair;
  EXPECT_TRUE(reader.wait(stop.get_token()));
  EXPECT_TRUE(reader.next(pair));
  stop.request_stop();
  EXPECT_FALSE(reader.wait(stop.get_token()));
  pipe.end();
  EXPECT_TRUE(reader.wait({})) << "the end has come";
}

TEST(ParallelReader, WaitsForTheNextPipeToo) {
  const TemporaryFolder files;
  OpenPipe pipe(files / "pipe", "");
  ParallelReader reader(text_pairs("train-sets", {files.make("a", "a\tb\n"), pipe.path}, true));
  Pair pair;
  EXPECT_TRUE(reader.wait({}));
  EXPECT_TRUE(reader.next(pair));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(reader.wait(stop.get_token()));
  pipe.end();
  EXPECT_TRUE(reader.wait({}));
  EXPECT_FALSE(reader.next(pair));
  EXPECT_EQ(reader.ends(), (std::vector<int64_t>{1, 1}));
}

TEST(ParallelReader, DoesNotCountWhatAPipeMayStillHave) {
  const TemporaryFolder files;
  OpenPipe pipe(files / "pipe", "a\nb\n");
  EXPECT_THAT(message(text_pairs("train-sets", {files.make("a", "1\n"), pipe.path}, false)),
              HasSubstr(files / "a" + " has 1 lines, " + pipe.path + " has at least 2, expected the same number"));
}

TEST(ParallelReader, CountsInvalidLinesOfEachSideThroughAllCorpora) {
  const TemporaryFolder files;
  ParallelReader reader({{{files.make("a", "1\n\xff\n"), files.make("b", "1\n2\n")}},
                         {{files.make("c", "x\ty\nx\t\xff\n\xff\t\xff\n"), files / "c"}, true}});
  read_all(reader);
  EXPECT_EQ(reader.invalid(0).lines, 2);
  EXPECT_EQ(reader.invalid(0).first, 2);
  EXPECT_EQ(reader.invalid(1).lines, 2);
  EXPECT_EQ(reader.invalid(1).first, 4);
}

}  // namespace
}  // namespace dragoman
