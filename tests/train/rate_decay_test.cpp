#include "train/rate_decay.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/line_reader.h"
#include "tests/read_lines.h"
#include "tests/train/toy_run.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RateDecayOptions decay(DecayStrategy strategy, std::vector<int64_t> start) {
  RateDecayOptions o;
  o.rate_decay = 0.5;
  o.decay_strategy = strategy;
  o.decay_start = std::move(start);
  return o;
}

/// The indices of the points of a run at which the rate decays; twice for two decays.
std::vector<int> decays_at(const RateDecayOptions& options, const std::vector<DecayPoint>& run) {
  std::vector<int> found;
  for (size_t i = 1; i < run.size(); ++i)
    found.insert(found.end(), decays_between(options, run[i - 1], run[i]).size(), int(i));
  return found;
}

std::vector<DecayPoint> updates(int64_t number, const std::function<DecayPoint(int64_t update)>& point) {
  std::vector<DecayPoint> run;
  for (int64_t u = 0; u <= number; ++u) run.push_back(point(u));
  return run;
}

TEST(RateDecay, IsOffForAFactorOfZeroOrOne) {
  const auto run = updates(9, [](int64_t u) { return DecayPoint{.updates = u, .epochs = u}; });
  RateDecayOptions o = decay(DecayStrategy::epoch, {1});
  EXPECT_EQ(decays_at(o, run).size(), 9u);
  for (const double off : {0.0, 1.0}) {
    o.rate_decay = off;
    EXPECT_THAT(decays_at(o, run), IsEmpty());
  }
}

TEST(RateDecay, OfStalledValidationsComesAtMultiplesOfTheStart) {
  const int64_t counts[] = {0, 1, 1, 2, 3, 4, 0, 1, 2};  // the third update has no validation
  const auto run = updates(8, [&](int64_t u) { return DecayPoint{.updates = u, .stalled = counts[u]}; });
  EXPECT_THAT(decays_at(decay(DecayStrategy::stalled, {2}), run), ElementsAre(3, 5, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::stalled, {1}), run), ElementsAre(1, 3, 4, 5, 7, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::stalled, {0}), run), IsEmpty());
}

// With --early-stopping-on all, one of two metrics may improve while the other has stalled for longer.
TEST(RateDecay, OfStalledValidationsDoesNotComeWhenTheirNumberFalls) {
  EXPECT_THAT(decays_between(decay(DecayStrategy::stalled, {2}), {.stalled = 4}, {.stalled = 2}), IsEmpty());
}

TEST(RateDecay, OfBatchesComesAtTheStartAndThenAtTheFrequency) {
  const auto run = updates(12, [](int64_t u) { return DecayPoint{.updates = u}; });
  RateDecayOptions o = decay(DecayStrategy::batches, {5});
  o.decay_freq = 3;
  EXPECT_THAT(decays_at(o, run), ElementsAre(5, 8, 11));
  o.decay_start = {0};
  EXPECT_THAT(decays_at(o, run), IsEmpty());
}

// Marian counts epochs from 1, and decides as one begins.
TEST(RateDecay, OfEpochsComesAsEachBegins) {
  const auto run = updates(9, [](int64_t u) { return DecayPoint{.updates = u, .epochs = u / 2}; });
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch, {3}), run), ElementsAre(4, 6, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch, {0}), run), IsEmpty());
  const DecayPoint begin, later{.updates = 1, .epochs = 3};  // a text of hardly any pairs
  EXPECT_EQ(decays_between(decay(DecayStrategy::epoch, {3}), begin, later).size(), 2u);
}

TEST(RateDecay, OfEpochsAndBatchesComesOfEitherAtTheBeginningsOfEpochs) {
  const auto run = updates(9, [](int64_t u) { return DecayPoint{.updates = u, .epochs = u / 2}; });
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_batches, {9, 5}), run), ElementsAre(6, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_batches, {3, 7}), run), ElementsAre(4, 6, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_batches, {0, 0}), run), IsEmpty());
}

TEST(RateDecay, OfEpochsAndStalledValidationsRemembersTheMost) {
  const int64_t counts[] = {0, 0, 1, 2, 0, 0, 0, 0, 0, 0}, most[] = {0, 0, 1, 2, 2, 2, 2, 2, 2, 2};
  const auto run = updates(9, [&](int64_t u) {
    return DecayPoint{.updates = u, .epochs = u / 2, .stalled = counts[u], .most_stalled = most[u]};
  });
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_stalled, {10, 2}), run), ElementsAre(4, 6, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_stalled, {10, 1}), run), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(decays_at(decay(DecayStrategy::epoch_stalled, {4, 0}), run), ElementsAre(6, 8));
}

/// Its second and later validations are no improvement, and the rate decays after two of them.
struct Decaying : ToyRun {
  Decaying() {
    setup.optimizer.warmup = 0;
    setup.optimizer.schedule = Schedule::constant;
    setup.training.valid_freq = {2, Frequency::updates};
    setup.training.early_stopping_epsilon = {1e6};
    static_cast<RateDecayOptions&>(setup.training) = decay(DecayStrategy::stalled, {2});
  }
};

TEST(RateDecay, MultipliesTheRateAndSaysWhy) {
  Decaying run;
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.setup.training.log_json = run.files / "run.jsonl";
  EXPECT_EQ(run.train_until(11).rate_factor(), 0.25);
  EXPECT_THAT(
      run.log.text(),
      AllOf(HasSubstr("Learning rate reduced to 0.005 (×0.5): no improvement of cross-entropy for 2 validations"),
            HasSubstr("Learning rate reduced to 0.0025 (×0.5): no improvement of cross-entropy for 4 validations"),
            HasSubstr("L.r. 1.0000e-02"), HasSubstr("L.r. 5.0000e-03"), HasSubstr("L.r. 2.5000e-03")));
  std::vector<std::pair<int64_t, double>> decays;
  for (const std::string& line : read_lines(run.setup.training.log_json)) {
    const auto event = nlohmann::json::parse(line);
    if (event.at("event") == "decay") decays.emplace_back(event.at("update"), event.at("rate_factor"));
  }
  EXPECT_THAT(decays, ElementsAre(std::pair(6, 0.5), std::pair(10, 0.25)));
}

TEST(RateDecay, IsRememberedUntilAnotherRateIsGiven) {
  Decaying run;
  run.train_until(7);
  run.setup.training.rate_decay = 0;
  run.log.clear();
  EXPECT_EQ(run.train_until(8).rate_factor(), 0.5);
  EXPECT_THAT(
      run.log.text(),
      HasSubstr(
          "the learning rate is --learn-rate multiplied by 0.5 (--lr-decay); a different --learn-rate would be used "
          "unchanged"));
  run.setup.optimizer.learn_rate = 0.004;
  EXPECT_EQ(run.train_until(9).rate_factor(), 1);
  EXPECT_THAT(run.log.text(),
              HasSubstr("--learn-rate was 0.01 and is 0.004 now: it is no longer multiplied by 0.5 (--lr-decay)"));
  run.log.clear();
  run.train_until(10);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("--learn-rate")));
}

TEST(RateDecay, ForgetsTheMostValidationsInARowWithTheMetricThatDecides) {
  for (const StoppingOn on : {StoppingOn::first, StoppingOn::any}) {
    Decaying run;
    run.setup.training.early_stopping_on = on;
    run.setup.training.valid_metrics = {ValidMetric::chrf, ValidMetric::cross_entropy};
    EXPECT_GE(run.train_until(8).most_stalled, 3);
    run.setup.training.valid_max_lines = 3;  // figures of chrf alone change
    const Progress after = run.train_until(10);
    EXPECT_EQ(after.stalled.at("chrf"), 0);
    EXPECT_EQ(after.most_stalled, on == StoppingOn::first ? 0 : after.stalled.at("cross-entropy"));
  }
}

TEST(RateDecay, MayResetTheOptimizer) {
  const auto steps = [](bool resets) {
    Decaying run;
    run.setup.training.decay_resets_optimizer = resets;
    run.train_until(9);
    const SafetensorsFile state(state_path(run.setup.training.model));
    return progress_from(state.metadata().at("progress"), state.path()).adam_steps;
  };
  EXPECT_EQ(steps(false), 9);
  EXPECT_EQ(steps(true), 9 - 6);
}

TEST(RateDecay, IsNotMadeByTheValidationAtTheEnd) {
  Decaying run;
  run.train_until(4);
  EXPECT_EQ(run.train_until(5).rate_factor(), 1) << "the third validation does not count";
  EXPECT_EQ(run.train_until(6).rate_factor(), 0.5);
}

}  // namespace
}  // namespace dragoman
