#include "train/dry_run.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FieldsAre;
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
  EXPECT_THAT(dry.missing_vocabularies, ElementsAre(FieldsAre(run.files / "new.spm", "")));
  EXPECT_FALSE(std::filesystem::exists(run.files / "new.spm"));
  EXPECT_GT(dry.parameters, 300 * run.setup.model.dim);
}

// Not a SentencePiece model, which would need a larger text.
TEST(DryRun, ListsTokensWhereTheVocabularyIsAList) {
  for (const auto& names : {std::pair("new.yml", "new.yml"), {"new.txt", "new.json"}}) {
    ToyRun run;
    run.setup.data.vocabs = {run.files / names.first, run.files / names.second};
    run.setup.data.dim_vocabs.clear();
    EXPECT_THAT(message_of([&] { dry_run(run.setup, backend("cpu")); }),
                HasSubstr("--decoder-start bos is a piece that " + run.setup.data.vocabs[1] + " does not have"));
    run.setup.data.decoder_start_by_vocabulary = true;
    const DryRun dry = dry_run(run.setup, backend("cpu"));
    EXPECT_FALSE(std::filesystem::exists(run.files / names.first));
    EXPECT_EQ(run.train_until(1).updates, 1);
    EXPECT_EQ(dry.parameters, Trainer(run.setup, backend("cpu")).model().parameters().count());
  }
}

TEST(DryRun, SaysFromWhichModelAVocabularyIsWritten) {
  ToyRun run;
  run.train_until(1);
  const std::string vocabulary = run.setup.data.vocabs[0];
  std::filesystem::remove(vocabulary);
  run.log.clear();
  const DryRun dry = dry_run(run.setup, backend("cpu"));
  EXPECT_THAT(dry.missing_vocabularies, ElementsAre(FieldsAre(vocabulary, run.setup.training.model)));
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr(vocabulary + " would be written from the vocabulary of "),
                                    testing::Not(HasSubstr("temporary"))));
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
