#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "backend/backend.h"
#include "tests/comm/on_ranks.h"
#include "tests/train/toy_run.h"
#include "train/not_finite.h"
#include "train/progress_json.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Runs until `end`; when the log says `sign`, one weight is made not finite, at most `times` times.
struct Poisoned {
  Poisoned(ToyRun& run, int64_t end, const std::string& sign, int times,
           const std::function<void(const std::string& line)>& also = {}) {
    run.setup.training.after = {{end, Frequency::updates}};
    run.setup.training.disp_freq = {1, Frequency::updates};
    trainer.emplace(run.setup, backend("cpu"));
    run.log.listen([=, this, left = times](const std::string& line) mutable {
      if (also) also(line);
      if (line.find(sign) == std::string::npos || left-- <= 0) return;
      trainer->model().parameters().named().front().value.as<float>()[5 * 16] = nan;  // of a piece, D = 16
    });
  }
  std::optional<Trainer> trainer;
};

TEST(Divergence, SkipsUpdatesThatAreNotFiniteAndLeavesTheWeightsAlone) {
  ToyRun run;
  run.setup.training.max_skipped = 0;
  run.setup.training.after = {{3, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  const auto weights = [&] {
    const Tensor& all = trainer.model().parameters().named().back().value;
    return std::vector<float>(all.as<float>(), all.as<float>() + all.elements());
  };
  trainer.model().parameters().named().front().value.as<float>()[0] = nan;
  const auto before = weights();
  EXPECT_THAT(message_of([&] { trainer.run(); }), HasSubstr("weight embedding.weight is not finite"));
  EXPECT_EQ(trainer.progress().skipped, 3);
  EXPECT_EQ(weights(), before);
  EXPECT_THAT(run.log.text(), HasSubstr("update 3 skipped: its loss or gradient is not finite (weight "
                                        "embedding.weight) (3 in a row, 3 skipped so far)"));
  EXPECT_TRUE(run.files_made().empty());
}

TEST(Divergence, LeavesTheReportedNormThatOfTheLastUpdateThatCounted) {
  ToyRun run;
  run.setup.optimizer.warmup = 0;
  run.setup.optimizer.learn_rate = 1e30;
  run.setup.training.max_skipped = 0;
  run.setup.training.disp_freq = {2, Frequency::updates};
  run.setup.training.after = {{2, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  message_of([&] { trainer.run(); });
  EXPECT_EQ(trainer.progress().skipped, 1);
  const std::string log = run.log.text();
  const size_t norm = log.find("gNorm ", log.find("Up. 2 "));
  ASSERT_NE(norm, std::string::npos) << log;
  EXPECT_TRUE(std::isfinite(std::stod(log.substr(norm + 6)))) << log;
}

TEST(Divergence, IsSaidOnceWhereNumbersStayFinite) {
  ToyRun run;
  run.setup.optimizer.warmup = 0;
  run.setup.optimizer.learn_rate = 30;
  run.setup.training.disp_freq = {4, Frequency::updates};
  run.train_until(14);
  const auto warnings = std::ranges::count_if(run.log.lines(), [](const std::string& line) {
    return line.find("far above 4.61, that of uniform guessing") != std::string::npos;
  });
  EXPECT_EQ(warnings, 1) << run.log.text();
}

TEST(Divergence, IsNotSaidOfARunThatLearns) {
  ToyRun run;
  run.setup.training.disp_freq = {1, Frequency::updates};
  run.train_until(30);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("that of uniform guessing")));
}

TEST(Divergence, RollsBackToTheCheckpointAtHalfTheRate) {
  ToyRun run;
  run.setup.optimizer.warmup = 0;
  run.setup.optimizer.schedule = Schedule::constant;
  run.setup.training.max_skipped = 3;
  run.setup.training.save_freq = {4, Frequency::updates};
  Poisoned poisoned(run, 12, "Up. 6 ", 1);
  poisoned.trainer->run();
  EXPECT_EQ(poisoned.trainer->progress().updates, 12);
  EXPECT_EQ(poisoned.trainer->progress().rollbacks, 1);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("rollback: updates up to 9 were not finite (weight embedding.weight); resuming from the "
                              "checkpoint of update 4, with 0.5 of the learning rate"),
                    HasSubstr("L.r. 1.0000e-02"), HasSubstr("L.r. 5.0000e-03"), Not(HasSubstr("not saved"))));
}

// What came since the checkpoint cannot be read again.
TEST(Divergence, OfAStreamContinuesWithTheTextThatIsLeft) {
  ToyRun run;
  run.setup.data.stream = 40;  // about four updates
  run.setup.training.max_skipped = 3;
  run.setup.training.save_freq = {2, Frequency::updates};
  Poisoned poisoned(run, 100, "Up. 3 ", 1);
  poisoned.trainer->run();
  EXPECT_EQ(poisoned.trainer->progress().rollbacks, 1);
  EXPECT_THAT(run.log.text(),
              AllOf(HasSubstr("from the checkpoint of update 2"), HasSubstr("Training finished: the text has ended")));
  const Progress& end = poisoned.trainer->progress();
  EXPECT_EQ(end.position, (Position{5, 0}));
  // The updates after the checkpoint are missing, and no others: the one that was poisoned and three that were skipped.
  ToyRun straight;
  straight.setup.data.stream = 40;
  EXPECT_EQ(end.updates, straight.train_until(100).updates - 4);
}

// What lies on the disk when the log reports the rollback is what a kill would leave.
TEST(Divergence, AndAKillRightAfterLoseNothing) {
  const auto options = [](ToyRun& run) {
    run.setup.training.max_skipped = 3;
    run.setup.training.save_freq = {4, Frequency::updates};
  };
  const TemporaryFolder left;
  ToyRun run;
  options(run);
  Poisoned poisoned(run, 10, "Up. 6 ", 1, [&](const std::string& line) {
    if (line.find("resuming from the checkpoint") == std::string::npos) return;
    for (const std::string& name : run.files_made()) fs::copy_file(run.files / name, left / name);
  });
  poisoned.trainer->run();
  ToyRun killed;
  options(killed);
  for (const std::string& name : run.files_made()) fs::rename(left / name, killed.files / name);
  EXPECT_EQ(killed.train_until(10).rollbacks, 1);
  EXPECT_TRUE(killed.state_bytes() == run.state_bytes());
  EXPECT_TRUE(killed.model_bytes() == run.model_bytes());
}

TEST(Divergence, EndsTheSecondTimeAndKeepsTheCheckpoint) {
  ToyRun run;
  run.setup.training.max_skipped = 3;
  run.setup.training.save_freq = {4, Frequency::updates};
  Poisoned poisoned(run, 12, "Up. 6 ", 2);
  EXPECT_THAT(
      message_of([&] { poisoned.trainer->run(); }),
      AllOf(HasSubstr("3 updates in a row up to update 9 were not finite, again after a rollback"),
            HasSubstr("the first tensor that is not finite: weight embedding.weight"), HasSubstr("hint: lower")));
  run.log.listen({});
  run.setup.training.no_reload = false;
  EXPECT_EQ(run.train_until(6).updates, 6);
  EXPECT_THAT(run.log.text(), HasSubstr("Resuming from"));
}

// "adam_steps" of the state.
int64_t steps_of(const ToyRun& run) {
  const SafetensorsFile state(state_path(run.setup.training.model));
  return progress_from(state.metadata().at("progress"), state.path()).adam_steps;
}

TEST(Divergence, RestoresInARollbackOnlyWhatTheCallHadRestored) {
  ToyRun run;
  run.train_until(4);
  run.setup.training.max_skipped = 3;
  run.setup.training.no_optimizer_reload = true;
  Poisoned poisoned(run, 12, "Up. 6 ", 1);
  poisoned.trainer->run();
  EXPECT_EQ(poisoned.trainer->progress().rollbacks, 1);
  EXPECT_EQ(steps_of(run), 12 - 4);
}

TEST(Divergence, IsRememberedUntilAnotherRateIsGiven) {
  ToyRun run;
  run.setup.training.max_skipped = 3;
  run.setup.training.save_freq = {4, Frequency::updates};
  Poisoned poisoned(run, 10, "Up. 6 ", 1);
  poisoned.trainer->run();
  run.log.listen({});
  run.log.clear();
  EXPECT_EQ(run.train_until(12).rollbacks, 1);
  EXPECT_THAT(
      run.log.text(),
      HasSubstr(
          "the learning rate is --learn-rate multiplied by 0.5 (1 rollback); a different --learn-rate would be used "
          "unchanged"));
  run.log.clear();
  run.setup.optimizer.learn_rate = 0.004;
  EXPECT_EQ(run.train_until(14).rollbacks, 0);
  EXPECT_THAT(run.log.text(),
              HasSubstr("--learn-rate was 0.01 and is 0.004 now: it is no longer multiplied by 0.5 (1 rollback)"));
  run.log.clear();
  run.train_until(16);
  EXPECT_THAT(run.log.text(), Not(HasSubstr("--learn-rate")));
}

TEST(Divergence, KeepsTheDecaysOfTheCheckpointOnly) {
  ToyRun run;
  run.setup.training.max_skipped = 3;
  run.setup.training.save_freq = {4, Frequency::updates};
  run.setup.training.rate_decay = 0.5;
  run.setup.training.decay_strategy = DecayStrategy::batches;
  run.setup.training.decay_start = {3};
  run.setup.training.decay_freq = 2;
  Poisoned poisoned(run, 12, "Up. 6 ", 1);
  poisoned.trainer->run();
  EXPECT_THAT(run.log.text(), HasSubstr("the checkpoint of update 4, with 0.25 of the learning rate"));
  EXPECT_EQ(poisoned.trainer->progress().rollbacks, 1);
  EXPECT_EQ(poisoned.trainer->progress().decayed, 0x1p-5) << "after updates 3, 5, 7, 9 and 11";
  run.log.listen({});
  run.setup.training.rate_decay = 0;
  run.train_until(13);
  EXPECT_THAT(run.log.text(), HasSubstr("--learn-rate multiplied by 0.01562 (1 rollback, --lr-decay); a different"));
  run.setup.optimizer.learn_rate = 0.004;
  EXPECT_EQ(run.train_until(14).rate_factor(), 1);
  EXPECT_THAT(run.log.text(), HasSubstr("it is no longer multiplied by 0.01562 (1 rollback, --lr-decay)"));
}

TEST(Divergence, EndsWhereThereIsNothingToRollBackTo) {
  ToyRun run;
  run.setup.training.max_skipped = 2;
  Poisoned poisoned(run, 12, "Up. 1 ", 1);
  EXPECT_THAT(message_of([&] { poisoned.trainer->run(); }), HasSubstr("there is no checkpoint to roll back to"));
}

// A weight that is finite but so large that its products are not.
std::string found_with(const std::string& weight) {
  ToyRun run;
  run.setup.training.check_nan = true;
  run.setup.training.max_skipped = 1;
  run.setup.training.after = {{1, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  const auto& named = trainer.model().parameters().named();
  const auto large = std::ranges::find(named, weight, &Parameters::Named::name);
  std::fill_n(large->value.as<float>(), large->value.elements(), 3e38f);
  return message_of([&] { trainer.run(); });
}

TEST(CheckNan, NamesTheFirstOutputThatIsNotFiniteAndItsPosition) {
  EXPECT_THAT(found_with("encoder.0.self_attention.query.weight"),
              testing::ContainsRegex("the first tensor that is not finite: output \\(.*\\) of op 2, linear, before "
                                     "encoder.0.self_attention\n"));
  EXPECT_THAT(found_with("encoder.0.feed_forward.up.weight"),
              HasSubstr(", linear, between encoder.0.self_attention and decoder.0.self_attention\n"));
  EXPECT_THAT(found_with("decoder.0.feed_forward.up.weight"), HasSubstr(", linear, after decoder.0.cross_attention\n"));
}

TEST(NotFinite, IsFoundInWeightsAndGradients) {
  const Backend& cpu = backend("cpu");
  Arena arena;
  Parameters parameters(cpu, arena, DType::f32, Parameters::Flat{Parameters::flat_block});
  parameters.matrix({{"a", 2, Init::zeros()}, {"b", 3, Init::zeros()}}, 4);
  parameters.initialise(1);
  const auto& named = parameters.named();
  for (const auto& p : named) cpu.fill(p.gradient, 0.0);
  EXPECT_EQ(first_bad_weight(cpu, arena, parameters), "");
  EXPECT_EQ(first_bad_gradient(cpu, arena, parameters), "");
  named[0].value.as<float>()[7] = std::numeric_limits<float>::infinity();
  named[1].value.as<float>()[0] = nan;
  EXPECT_EQ(first_bad_weight(cpu, arena, parameters), "weight a");
  named[0].gradient.as<float>()[0] = nan;
  named[1].gradient.as<float>()[11] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(first_bad_gradient(cpu, arena, parameters), "gradient of b");
}

// Only the last sentence, which is in the last shard, has the word whose embedding overflows.
TEST(Divergence, NamesTheFirstValueThatIsNotFiniteOnAnyRank) {
  ToyRun run;
  std::string source, target;
  for (int i = 0; i < 9; ++i) source += "one two three\n", target += "eins zwei drei\n";
  run.files.make("train.en", source + "ten ten ten\n");
  run.files.make("train.de", target + "zehn zehn zehn\n");
  run.setup.data.mini_batch_words = 1000;
  run.setup.data.no_shuffle = true;
  run.setup.model.embeddings.tied_all = false;
  run.setup.training.gradient_shards = 2;
  run.setup.training.check_nan = true;
  run.setup.training.after = {{1, Frequency::updates}};
  const int32_t ten = Vocabulary::load(run.setup.data.vocabs[0]).encode("ten").front();
  on_ranks(2, [&](Communicator& ranks) {
    Trainer trainer(run.setup, backend("cpu"), run.control, ranks);
    for (const auto& p : trainer.model().parameters().named())
      if (p.name == "source_embedding.weight") p.value.as<float>()[ten * 16] = 3e38f;
    trainer.run();
    EXPECT_EQ(trainer.progress().skipped, 1);
    if (ranks.rank() == 0) {
      EXPECT_THAT(run.log.text(), HasSubstr("not finite (output "));
    }
  });
}

}  // namespace
}  // namespace dragoman
