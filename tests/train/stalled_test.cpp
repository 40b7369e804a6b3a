#include "train/stalled.h"

#include <gmock/gmock.h>

#include <utility>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(StalledOn, CountsTheFirstMetricThatOfTheMostOrThatOfTheFewest) {
  const std::map<std::string, int64_t> stalled = {{"bleu", 2}, {"chrf", 5}, {"other", 9}};
  const std::vector<std::string> metrics = {"bleu", "chrf", "perplexity"};
  const auto on = [&](StoppingOn which) {
    const Stalled s = stalled_on(which, metrics, stalled);
    return std::pair(s.validations, s.metric);
  };
  EXPECT_THAT(on(StoppingOn::first), Pair(2, "bleu"));
  EXPECT_THAT(on(StoppingOn::any), Pair(5, "chrf"));
  EXPECT_THAT(on(StoppingOn::all), Pair(0, "any metric"));
  EXPECT_EQ(stalled_on(StoppingOn::all, {"chrf"}, stalled).metric, "chrf");
}

/// Has two metrics, of which only the second improves enough to count.
struct TwoMetrics : ToyRun {
  TwoMetrics() {
    setup.optimizer.warmup = 0;
    setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::perplexity};
    setup.training.valid_freq = {2, Frequency::updates};
    setup.training.early_stopping = 2;
    setup.training.early_stopping_epsilon = {1e6, 0};
  }
};

TEST(EarlyStopping, ComesOnTheFirstOnAnyOrOnAllMetrics) {
  for (const auto& [on, end] :
       {std::pair(StoppingOn::first, 6), std::pair(StoppingOn::any, 6), std::pair(StoppingOn::all, 10)}) {
    TwoMetrics run;
    run.setup.training.early_stopping_on = on;
    EXPECT_EQ(run.train_until(10).updates, end) << name_of(on);
  }
  TwoMetrics run;
  std::swap(run.setup.training.valid_metrics[0], run.setup.training.valid_metrics[1]);
  std::swap(run.setup.training.early_stopping_epsilon[0], run.setup.training.early_stopping_epsilon[1]);
  EXPECT_EQ(run.train_until(10).updates, 10) << "the first improves";
  run.setup.training.early_stopping_on = StoppingOn::any;
  EXPECT_EQ(run.train_until(12).updates, 10) << "the second has stalled";
}

TEST(EarlyStopping, ComesOnAllMetricsWhenNoneImproves) {
  TwoMetrics run;
  run.setup.training.early_stopping_on = StoppingOn::all;
  run.setup.training.early_stopping_epsilon = {1e6};
  EXPECT_THAT(run.train_until(10).stalled, ElementsAre(Pair("cross-entropy", 2), Pair("perplexity", 2)));
}

// The best value follows all improvements, as in Marian: small ones do not add up.
TEST(EarlyStopping, CountsOnlyImprovementsAboveEpsilon) {
  TwoMetrics run;
  const Progress p = run.train_until(6);
  EXPECT_THAT(run.log.text(), HasSubstr("stalled 2 times (new best, by no more than --early-stopping-epsilon)"));
  run.setup.training.valid_freq = {};
  run.setup.training.early_stopping = 0;
  EXPECT_EQ(run.train_until(7).best, p.best);
  TwoMetrics first;
  EXPECT_LT(p.best.at("cross-entropy"), first.train_until(2).best.at("cross-entropy"));
}

TEST(EarlyStopping, ThatEndedARunIsForgottenOnRequest) {
  TwoMetrics run;
  EXPECT_EQ(run.train_until(20).updates, 6);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("Early stopping has ended this run")));
  EXPECT_EQ(run.train_until(20).updates, 6);
  EXPECT_THAT(run.log.text(), HasSubstr("Early stopping has ended this run: a higher --early-stopping or "
                                        "--valid-reset-stalled resumes it"));
  run.setup.training.valid_reset_stalled = true;
  EXPECT_EQ(run.train_until(20).updates, 10) << "two validations later";
}

TEST(EarlyStopping, DoesNotEndARunWithoutValidation) {
  TwoMetrics run;
  run.train_until(20);
  const auto valid_sets = std::exchange(run.setup.training.valid_sets, {});
  run.log.clear();
  EXPECT_EQ(run.train_until(8).updates, 8);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("Early stopping")));
  run.setup.training.valid_sets = valid_sets;
  EXPECT_EQ(run.train_until(20).updates, 8) << "the state keeps the count";
}

}  // namespace
}  // namespace dragoman
