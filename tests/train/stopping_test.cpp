#include <gmock/gmock.h>

#include <algorithm>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Progress trained(ToyRun& run, std::vector<Frequency> after) {
  run.setup.training.after = std::move(after);
  Trainer trainer(run.setup, backend("cpu"));
  trainer.run();
  return trainer.progress();
}

TEST(Stopping, ReportsTheUpdatesSinceTheLastReport) {
  ToyRun run;
  const auto reports = [&] {
    const auto lines = run.log.lines();
    return std::ranges::count_if(lines,
                                 [](const std::string& line) { return line.find(" : Cost ") != std::string::npos; });
  };
  run.train_until(3);
  EXPECT_EQ(reports(), 1) << run.log.text();
  EXPECT_THAT(run.log.text(), HasSubstr("Ep. 1 : Up. 3 : "));
  EXPECT_THAT(run.log.text(), HasSubstr("Training finished after 3 updates, 0.2 epochs"));
  run.train_until(3);
  EXPECT_EQ(reports(), 1) << "nothing was learned since";
  run.setup.training.disp_freq = {3, Frequency::updates};
  run.train_until(6);
  EXPECT_EQ(reports(), 2) << "not twice";
  run.setup.training.disp_freq = {};
  run.train_until(9);
  EXPECT_EQ(reports(), 2) << "--disp-freq 0 is never";
}

TEST(Stopping, ComesAfterEpochs) {
  ToyRun run;
  const Progress p = trained(run, {{2, Frequency::epochs}});
  EXPECT_EQ(p.position, (Position{2, 0}));
  EXPECT_EQ(p.sentences, 400);
  EXPECT_EQ(p.epoch_sentences, 0);
  EXPECT_THAT(run.log.text(), HasSubstr("Training finished after"));
}

TEST(Stopping, ReportsTheEndOfAnEpochWithinIt) {
  ToyRun run;
  run.setup.training.disp_freq = {1, Frequency::epochs};
  run.setup.training.log_json = run.files / "run.jsonl";
  const int64_t updates = trained(run, {{1, Frequency::epochs}}).updates;
  EXPECT_THAT(run.log.text(), HasSubstr(fmt::format("Ep. 1 : Up. {} : Sen. 200 : ", updates)));
  trained(run, {{2, Frequency::epochs}});
  EXPECT_THAT(run.log.text(), HasSubstr("Ep. 2 : "));
  EXPECT_THAT(run.log.text(), testing::Not(HasSubstr("Sen. 0")));
  const std::string json = read_file(run.setup.training.log_json);
  EXPECT_THAT(json, HasSubstr("\"epoch\":2,"));
  EXPECT_THAT(json, testing::Not(HasSubstr("\"epoch\":3,")));
}

TEST(Stopping, ReportsAnUpdateThatReachesIntoTheNextEpochThere) {
  ToyRun run;
  run.setup.data.mini_batch_words = 0;
  run.setup.data.mini_batch = 40;  // five batches an epoch
  run.setup.optimizer.optimizer_delay = 2;
  run.setup.training.disp_freq = {1, Frequency::updates};
  trained(run, {{5, Frequency::updates}});
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("Ep. 1 : Up. 2 : Sen. 160 : "), HasSubstr("Ep. 2 : Up. 3 : Sen. 40 : "),
                                    HasSubstr("Ep. 2 : Up. 5 : Sen. 200 : ")));
}

TEST(Stopping, CountsEpochsThatHaveHardlyAnyPairs) {
  ToyRun run;
  run.setup.data.corpus_weights = {0.001};
  trained(run, {{3, Frequency::epochs}});
  EXPECT_THAT(run.log.text(), HasSubstr("Training finished after 3 updates, 3 epochs"));
}

TEST(Stopping, ComesAfterTargetTokens) {
  ToyRun run;
  const Progress p = trained(run, {{500, Frequency::target_tokens}});
  EXPECT_GE(p.target_tokens, 500);
  EXPECT_LT(p.target_tokens, 500 + run.setup.data.mini_batch_words);
}

TEST(Stopping, ComesWithTheFirstOfSeveral) {
  ToyRun run;
  EXPECT_EQ(trained(run, {{3, Frequency::epochs}, {4, Frequency::updates}, {1000, Frequency::minutes}}).updates, 4);
}

TEST(Stopping, NeverComesOfZero) {
  for (auto unit : {Frequency::updates, Frequency::epochs, Frequency::target_tokens, Frequency::minutes}) {
    const Stopping stopping({{0, unit}}, 100, {});
    EXPECT_FALSE(stopping.reached({}));
    EXPECT_EQ(stopping.fraction_done({}), -1);
    EXPECT_EQ(stopping.remaining({}), -1);
  }
}

TEST(Stopping, ReportsTheShareThatIsDone) {
  Progress p;
  p.updates = 30;
  p.position.epoch = 1;
  p.epoch_sentences = 50;
  EXPECT_DOUBLE_EQ(Stopping({{100, Frequency::updates}}, 100, {}).fraction_done(p), 0.3);
  EXPECT_DOUBLE_EQ(Stopping({{2, Frequency::epochs}}, 100, {}).fraction_done(p), 0.75);
  EXPECT_DOUBLE_EQ(Stopping({{100, Frequency::updates}, {2, Frequency::epochs}}, 100, {}).fraction_done(p), 0.75);
  EXPECT_EQ(Stopping({}, 100, {}).fraction_done(p), -1);
}

TEST(Stopping, EstimatesFromTheSpeedOfThisProcess) {
  Progress start, now;
  start.updates = 900;
  now.updates = 950;
  const Clock longer;
  const Stopping stopping({{1000, Frequency::updates}}, 100, start);
  const Clock shorter;
  EXPECT_EQ(stopping.remaining(start), -1);
  const double least = shorter.seconds(), estimate = stopping.remaining(now);  // as long again as it took so far
  EXPECT_GE(estimate, least);
  EXPECT_LE(estimate, longer.seconds());
}

// Without a learning rate the second and third validation are no better than the first.
TEST(EarlyStopping, ComesWhenTheFirstMetricDoesNotImprove) {
  ToyRun run;
  run.setup.optimizer.learn_rate = 0;
  run.setup.training.valid_freq = {2, Frequency::updates};
  run.setup.training.early_stopping = 2;
  EXPECT_EQ(trained(run, {}).updates, 6);
  EXPECT_THAT(run.log.text(), testing::AllOf(HasSubstr("[valid] Ep. 1 : Up. 2 : cross-entropy : "),
                                             HasSubstr("stalled 2 times (last best: "),
                                             HasSubstr("2 validations without improvement, after 6 updates")));
}

TEST(EarlyStopping, ForgetsTheBestOfAMetricThatIsNoLongerRequested) {
  ToyRun run;
  run.setup.training.valid_freq = {2, Frequency::updates};
  run.train_until(2);
  run.setup.training.valid_metrics = {ValidMetric::perplexity};  // above any cross-entropy
  const Progress p = run.train_until(4);
  EXPECT_EQ(p.stalled.at("perplexity"), 0);
  EXPECT_GT(p.best.at("perplexity"), p.best.at("cross-entropy"));
}

TEST(EarlyStopping, CountsEachMetricFromWhenItIsMeasured) {
  ToyRun run;
  run.setup.optimizer.learn_rate = 0;
  run.setup.training.valid_metrics = {ValidMetric::perplexity};
  run.setup.training.valid_freq = {2, Frequency::updates};
  EXPECT_THAT(run.train_until(6).stalled, testing::ElementsAre(testing::Pair("perplexity", 2)));
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::perplexity};
  run.setup.training.early_stopping = 2;
  EXPECT_EQ(run.train_until(20).updates, 12) << "three validations later";
  run.setup.training.valid_metrics = {ValidMetric::perplexity, ValidMetric::cross_entropy};
  EXPECT_EQ(run.train_until(20).updates, 12) << "it was measured all the time";
}

TEST(EarlyStopping, IsOffForZero) {
  ToyRun run;
  run.setup.optimizer.learn_rate = 0;
  run.setup.training.valid_freq = {1, Frequency::updates};
  run.setup.training.early_stopping = 0;
  EXPECT_EQ(run.train_until(5).stalled.at("cross-entropy"), 4);
}

}  // namespace
}  // namespace dragoman
