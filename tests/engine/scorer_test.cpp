#include "dragoman/scorer.h"

#include <gmock/gmock.h>

#include "base/line_reader.h"
#include "cli/commands.h"
#include "cli/score_options.h"
#include "dragoman/engine.h"
#include "dragoman/error.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class ScorerTest : public testing::Test {
 protected:
  TemporaryFolder folder;
  const std::string model = save_toy_model(folder / "m", 1);
  const std::vector<std::string> sources = {"a red house", "", "the book"}, targets = {"the house", "a", ""};
  Engine engine{{.threads = 1}};
};

TEST_F(ScorerTest, ScoresAsTheCommandDoes) {
  ScoreCommandOptions command;
  command.model = model;
  command.train_sets = {folder.make("s", "a red house\n\nthe book\n"), folder.make("t", "the house\na\n\n")};
  command.output = folder / "out";
  score_command(engine, command);
  const auto expected = read_lines(command.output);
  Scorer scorer(engine, {.model = model});
  const auto scored = scorer.score(sources, targets);
  ASSERT_EQ(scored.size(), expected.size());
  for (size_t i = 0; i < scored.size(); ++i) EXPECT_EQ(fmt::format("{:.6f}", scored[i].log_prob), expected[i]);
  EXPECT_EQ(scored[2].token_log_probs.size(), 1u) << "the end of the sentence";
  EXPECT_THAT(scorer.score({}, {}), IsEmpty());
}

TEST_F(ScorerTest, GivesAPairTheSameScoreInAnyCompany) {
  Scorer scorer(engine, {.model = model, .mini_batch_words = 3});
  const auto together = scorer.score(sources, targets);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto alone = scorer.score({sources[i]}, {targets[i]});
    EXPECT_EQ(alone[0].token_log_probs, together[i].token_log_probs);
  }
}

TEST_F(ScorerTest, RefusesWhatCannotBeScored) {
  EXPECT_THAT([&] { Scorer(engine, {.model = folder / "none"}); }, ThrowsMessage<Error>(HasSubstr("none")));
  EXPECT_THAT([&] { Scorer(engine, {.model = model, .max_length = 0}); },
              ThrowsMessage<Error>(HasSubstr("max_length")));
  Scorer scorer(engine, {.model = model, .max_length = 1});
  EXPECT_THAT([&] { scorer.score(sources, {}); }, ThrowsMessage<Error>(HasSubstr("3 sources and 0 targets")));
  EXPECT_THAT([&] { scorer.score({"x"}, {"the red house"}); },
              ThrowsMessage<Error>(HasSubstr("pair 1: its source has")));
  EXPECT_THAT([&] { scorer.score({""}, {"the red house"}); },
              ThrowsMessage<Error>(HasSubstr("pair 1: its target has")));
  EXPECT_THAT([&] { scorer.score({"x"}, {"the red house"}, 41); },
              ThrowsMessage<Error>(HasSubstr("pair 42: its source has")));
}

}  // namespace
}  // namespace dragoman
