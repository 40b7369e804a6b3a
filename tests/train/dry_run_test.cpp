#include "train/dry_run.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

int64_t files_in(const ToyRun& run) { return std::distance(std::filesystem::directory_iterator(run.files / "."), {}); }

TEST(DryRun, PredictsTheRunAndWritesNothing) {
  ToyRun run;
  const int64_t files = files_in(run);
  const DryRun dry = dry_run(run.setup, backend("cpu"));
  EXPECT_EQ(files_in(run), files);
  EXPECT_FALSE(dry.sampled);
  EXPECT_FALSE(dry.resumes);
  EXPECT_GT(dry.measured_updates, 0);
  EXPECT_GT(dry.target_tokens_per_second, 0);

  run.setup.training.after = {{1, Frequency::epochs}};
  Trainer trainer(run.setup, backend("cpu"));
  trainer.run();
  EXPECT_EQ(dry.updates, double(trainer.progress().updates));
  EXPECT_EQ(dry.target_tokens, double(trainer.progress().target_tokens));
  EXPECT_EQ(dry.parameters, trainer.model().parameters().count());
  EXPECT_NEAR(double(dry.checkpoint.state), double(run.state_bytes().size()), 0.2 * double(run.state_bytes().size()));
  EXPECT_TRUE(dry_run(run.setup, backend("cpu")).resumes);
}

TEST(DryRun, TrainsAsARunDoes) {
  ToyRun run;
  run.setup.optimizer.learn_rate = 1e30;
  run.setup.training.gradient_shards = 2;
  run.setup.training.max_skipped = 2;
  const DryRun dry = dry_run(run.setup, backend("cpu"));
  EXPECT_THAT(run.log.text(), HasSubstr("skipped: its loss or gradient is not finite"));
  EXPECT_GT(dry.measured_updates, 0);
  EXPECT_LT(dry.measured_updates, 10) << "ends where the run would roll back";
}

TEST(DryRun, LearnsAMissingVocabularyForItselfOnly) {
  ToyRun run;
  run.setup.data.vocabs = {run.files / "new.spm", run.files / "new.spm"};
  run.setup.data.dim_vocabs = {300};
  const DryRun dry = dry_run(run.setup, backend("cpu"));
  EXPECT_THAT(dry.missing_vocabularies, ElementsAre(run.files / "new.spm"));
  EXPECT_FALSE(std::filesystem::exists(run.files / "new.spm"));
  EXPECT_GT(dry.parameters, 300 * run.setup.model.dim);
}

TEST(DryRun, FindsWhatARunWouldFailOf) {
  ToyRun run;
  const TrainingSetup good = run.setup;
  const auto fails = [&](auto change) {
    TrainingSetup setup = good;
    change(setup);
    return message_of([&] { dry_run(setup, backend("cpu")); });
  };
  EXPECT_THAT(fails([](TrainingSetup& s) { s.data.train_sets[1] = "nowhere"; }), HasSubstr("nowhere"));
  EXPECT_THAT(fails([](TrainingSetup& s) { s.training.valid_sets[0] = "nowhere"; }), HasSubstr("nowhere"));
  EXPECT_THAT(fails([](TrainingSetup& s) { s.training.log_json = "no/run.jsonl"; }),
              AllOf(HasSubstr("--log-json"), HasSubstr("there is no folder no")));
  EXPECT_THAT(fails([](TrainingSetup& s) { s.training.model = "no/m"; }), HasSubstr("there is no folder no"));
  run.train_until(1);
  EXPECT_THAT(
      fails([](TrainingSetup& s) { s.model.feed_forward = 48; }),
      AllOf(HasSubstr("belongs to another model: --transformer-dim-ffn is 32, here 48"), HasSubstr("--no-reload")));
}

TEST(DryRun, LooksAtTheFilesThatARunResumesFrom) {
  ToyRun run;
  run.train_until(1);
  const std::string model = run.setup.training.model, aside = run.files / "aside";
  std::filesystem::rename(model, aside);
  EXPECT_TRUE(dry_run(run.setup, backend("cpu")).resumes) << "from the state alone";
  std::filesystem::rename(aside, model);
  std::filesystem::remove(state_path(model));
  EXPECT_THAT(message_of([&] { dry_run(run.setup, backend("cpu")); }), HasSubstr("exists, but not its training state"));
  run.setup.training.no_reload = true;
  EXPECT_FALSE(dry_run(run.setup, backend("cpu")).resumes);
  run.setup.optimizer.exponential_smoothing = 0.01;
  run.train_until(1);
  run.setup.optimizer.exponential_smoothing = 0;
  run.setup.training.no_reload = false;
  EXPECT_THAT(message_of([&] { dry_run(run.setup, backend("cpu")); }), HasSubstr("contains averaged weights"));
}

// 100 updates and 5,000 target tokens an epoch, 1,000 of them a second.
TEST(LengthOfRun, IsThatOfTheNearestEnd) {
  DryRun run;
  run.updates = 100;
  run.target_tokens = 5000;
  run.target_tokens_per_second = 1000;
  EXPECT_FALSE(length_of_run(run, {}));
  EXPECT_FALSE(length_of_run(run, {{0, Frequency::updates}}));
  EXPECT_DOUBLE_EQ(length_of_run(run, {{2, Frequency::epochs}})->seconds, 10);
  EXPECT_DOUBLE_EQ(length_of_run(run, {{2, Frequency::epochs}})->updates, 200);
  EXPECT_DOUBLE_EQ(length_of_run(run, {{50, Frequency::updates}})->seconds, 2.5);
  EXPECT_DOUBLE_EQ(length_of_run(run, {{1000, Frequency::target_tokens}})->updates, 20);
  EXPECT_DOUBLE_EQ(length_of_run(run, {{1, Frequency::minutes}})->updates, 1200);
  EXPECT_DOUBLE_EQ(length_of_run(run, {{1, Frequency::minutes}, {2, Frequency::epochs}})->seconds, 10);
}

}  // namespace
}  // namespace dragoman
