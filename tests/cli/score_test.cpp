#include <gmock/gmock.h>

#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/score_options.h"
#include "options/table_files.h"
#include "score/scorer.h"
#include "tests/engine.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

// Runs the subcommand on two files and a model, and checks the numbers it prints.
namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class ScoreCommand : public testing::Test {
 protected:
  ScoreCommand() {
    options.model = save_toy_model(folder / "model", 1);
    options.train_sets = {folder.make("s", "Where is the castle?\n\na\nWhere is the bridge?\n"),
                          folder.make("t", "Wo ist das Schloß?\nja\n\nWo?\n")};
    options.output = folder / "out";
    options.quiet = true;
  }

  std::vector<double> numbers() {
    EXPECT_EQ(score_command(engine, options), 0);
    std::vector<double> values;
    for (const std::string& line : read_lines(options.output)) values.push_back(std::stod(line));
    return values;
  }

  // Target tokens of each line, end of sentence included.
  std::vector<double> lengths() const {
    std::vector<double> values;
    for (const std::string& line : read_lines(options.train_sets[1]))
      values.push_back(double(toy_vocabulary().encode(line).size() + 1));
    return values;
  }

  TemporaryFolder folder;
  ScoreCommandOptions options;
};

TEST_F(ScoreCommand, GivesALogProbabilityForEveryPairInOrder) {
  const auto together = numbers();
  ASSERT_THAT(together, SizeIs(4));
  const auto sources = read_lines(options.train_sets[0]), targets = read_lines(options.train_sets[1]);
  for (size_t i = 0; i < 4; ++i) {
    options.train_sets = {folder.make("one.s", sources[i] + "\n"), folder.make("one.t", targets[i] + "\n")};
    EXPECT_LT(together[i], 0);
    EXPECT_EQ(numbers(), std::vector{together[i]}) << "pair " << i << " alone";
  }
}

TEST_F(ScoreCommand, GivesTheSameWhateverTheBatchAndTheWindow) {
  const auto expected = numbers();
  for (const int64_t words : {1, 8, 4096})
    for (const int64_t lines : {1, 3, 10000}) {
      options.mini_batch_words = words;
      options.maxi_batch_lines = lines;
      EXPECT_EQ(numbers(), expected) << words << " words, " << lines << " lines";
    }
}

TEST_F(ScoreCommand, DividesByTheLengthOfTheTarget) {
  const auto whole = numbers(), by = lengths();
  options.normalize = true;
  const auto normalized = numbers();
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(normalized[i], whole[i] / by[i], 1e-6);
}

TEST_F(ScoreCommand, SumsUp) {
  const auto scores = numbers(), by = lengths();
  double sum = 0, pieces = 0;
  for (size_t i = 0; i < scores.size(); ++i) sum += scores[i], pieces += by[i];
  for (const auto& [kind, expected] : {std::pair(Summary::cross_entropy, -sum / 4),
                                       {Summary::ce_mean, -sum / 4},
                                       {Summary::ce_mean_words, -sum / pieces},
                                       {Summary::perplexity, std::exp(-sum / pieces)}}) {
    options.summary = kind;
    const auto figure = numbers();
    ASSERT_THAT(figure, SizeIs(1));
    EXPECT_NEAR(figure[0], expected, 1e-6 * expected) << name_of(kind);
  }
}

TEST_F(ScoreCommand, TakesPiecesThatAreGiven) {
  const auto expected = numbers();
  options.no_spm_encode = true;
  std::string texts[2];
  for (int side : {0, 1})
    for (const std::string& line : read_lines(options.train_sets[side])) {
      for (const std::string& piece : toy_vocabulary().encode_pieces(line)) texts[side] += piece + " ";
      texts[side] += "\n";
    }
  options.train_sets = {folder.make("p.s", texts[0]), folder.make("p.t", texts[1])};
  EXPECT_EQ(numbers()[0], expected[0]);
}

TEST_F(ScoreCommand, OfEmptyFilesPrintsNothingButHasNoSummary) {
  options.train_sets = {folder.make("s", ""), folder.make("t", "")};
  EXPECT_TRUE(numbers().empty());
  options.summary = Summary::perplexity;
  EXPECT_THROW(score_command(engine, options), Error);
}

TEST_F(ScoreCommand, NamesTheFilesThatDoNotPair) {
  options.train_sets[1] = folder.make("t", "eins\nzwei\n");
  try {
    score_command(engine, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/s has 4 lines, "));
    EXPECT_THAT(error.what(), HasSubstr("/t has 2"));
  }
}

TEST_F(ScoreCommand, WritesTheScoresBeforeAPairThatIsTooLong) {
  const auto sources = read_lines(options.train_sets[0]), targets = read_lines(options.train_sets[1]);
  const std::string source = sources[0] + "\n" + sources[1] + "\n", target = targets[0] + "\n" + targets[1] + "\n";
  options.train_sets = {folder.make("s", source + std::string(999, 'a') + "\na\n"),
                        folder.make("t", target + "a\na\n")};
  options.max_length = 100;
  EXPECT_THAT([&] { score_command(engine, options); }, testing::ThrowsMessage<Error>(HasSubstr("line 3")));
  const auto found = read_lines(options.output);
  options.train_sets = {folder.make("s", source), folder.make("t", target)};
  numbers();
  EXPECT_EQ(found, read_lines(options.output));
}

TEST_F(ScoreCommand, RefusesToOverwriteItsText) {
  options.output = options.train_sets[1];
  EXPECT_THROW(refuse_overwriting(files_of(score_table(), options)), Error);
}

TEST_F(ScoreCommand, GivesTheScoreOfEachPiece) {
  const auto whole = numbers(), by = lengths();
  options.word_scores = true;
  EXPECT_EQ(score_command(engine, options), 0);
  const auto lines = read_lines(options.output);
  ASSERT_EQ(lines.size(), whole.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string mark = " ||| WordScores=";
    const size_t at = lines[i].find(mark);
    ASSERT_NE(at, std::string::npos) << lines[i];
    std::istringstream fields(lines[i].substr(at + mark.size()));
    const std::vector<double> pieces{std::istream_iterator<double>(fields), {}};
    EXPECT_EQ(double(pieces.size()), by[i]);
    EXPECT_NEAR(std::accumulate(pieces.begin(), pieces.end(), 0.0), whole[i], 1e-4 * by[i]);
  }
}

TEST_F(ScoreCommand, AddsAFeatureToNBestLists) {
  options.train_sets = {folder.make("s", "Where is the castle?\n\nWhere is the bridge?\n"),
                        folder.make("list",
                                    "0 ||| Wo ist das Schloß? ||| F0= -1 ||| -0.5\n"
                                    "0 ||| Wo? ||| F0= -2 ||| -1\n"
                                    "2 |||  ||| WordScores= -3 ||| F0= -3 ||| -3\n")};
  options.n_best = true;
  EXPECT_EQ(score_command(engine, options), 0);
  const auto lines = read_lines(options.output);
  options.n_best = false;
  options.train_sets = {folder.make("s2", "Where is the castle?\nWhere is the castle?\nWhere is the bridge?\n"),
                        folder.make("t2", "Wo ist das Schloß?\nWo?\n\n")};
  const auto alone = numbers();
  ASSERT_THAT(lines, SizeIs(3));
  const std::string before[] = {"0 ||| Wo ist das Schloß? ||| F0= -1 Score= ", "0 ||| Wo? ||| F0= -2 Score= ",
                                "2 |||  ||| WordScores= -3 ||| F0= -3 Score= "};
  const std::string after[] = {" ||| -0.5", " ||| -1", " ||| -3"};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_THAT(lines[i], testing::AllOf(testing::StartsWith(before[i]), testing::EndsWith(after[i])));
    EXPECT_NEAR(std::stod(lines[i].substr(before[i].size())), alone[i], 1e-4 * std::abs(alone[i]));
  }
}

TEST_F(ScoreCommand, NamesTheFeatureAndRewritesWordScores) {
  options.train_sets = {folder.make("s", "Where?\n"), folder.make("list", "0 |||  ||| WordScores= -3 ||| F0= -3\n")};
  options.n_best = options.normalize = options.word_scores = true;
  options.n_best_feature = "Other";
  EXPECT_EQ(score_command(engine, options), 0);
  EXPECT_THAT(read_lines(options.output),
              testing::ElementsAre(testing::MatchesRegex(
                  "0 \\|\\|\\|  \\|\\|\\| WordScores= -[0-9.]+ \\|\\|\\| F0= -3 Other= -[0-9.]+")));
}

// No weight is above 1. A stale alignment of the list is replaced too.
TEST_F(ScoreCommand, WritesAlignmentsThatHaveNoLinks) {
  options.train_sets = {folder.make("s", "Where?\n"), folder.make("t", "Wo?\n")};
  options.alignments = options.word_scores = true;
  options.alignment = {AlignmentStyle::above, 1};
  EXPECT_EQ(score_command(engine, options), 0);
  EXPECT_THAT(read_lines(options.output),
              testing::ElementsAre(testing::ContainsRegex("^-[0-9.]+ \\|\\|\\|  \\|\\|\\| WordScores= -[0-9. -]+$")));
  options.train_sets[1] = folder.make("list", "0 ||| Wo? ||| 0-0 1-1 ||| F0= -3\n");
  options.n_best = true, options.word_scores = false;
  EXPECT_EQ(score_command(engine, options), 0);
  EXPECT_THAT(read_lines(options.output),
              testing::ElementsAre(testing::StartsWith("0 ||| Wo? |||  ||| F0= -3 Score= ")));
}

TEST_F(ScoreCommand, RefusesLinesThatAreTooLong) {
  const auto complaint = [&](const std::string& source, const std::string& target) -> std::string {
    options.train_sets = {folder.make("s", source), folder.make("t", target)};
    try {
      score_command(engine, options);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  options.max_length = 50;
  std::string words;
  for (int i = 0; i < 60; ++i) words += "castle ";
  EXPECT_EQ(complaint("a\na\n", "b\nb\n"), "");
  EXPECT_THAT(complaint("a\na\n", "b\n" + words + "\n"), HasSubstr("t, line 2: has "));
  EXPECT_THAT(complaint("a\n" + words + "\n", "b\nb\n"), HasSubstr("pieces, more than --max-length 50"));
  EXPECT_THAT(complaint(std::string(2'000'000, 'a'), "b"), HasSubstr("s, line 1: has more than 1048576 bytes"));
}

}  // namespace
}  // namespace dragoman
