#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

namespace fs = std::filesystem;

/// Validates at every second update. The run learns, so that each validation is better than those before.
struct BestRun : ToyRun {
  explicit BestRun(int64_t keep) {
    setup.training.valid_freq = {2, Frequency::updates};
    setup.training.keep_best = keep;
    setup.optimizer.warmup = 0;
    setup.optimizer.schedule = Schedule::constant;
  }

  /// The updates of the files that are there.
  std::vector<int64_t> files_of(std::string_view metric = "cross-entropy") const {
    std::vector<int64_t> updates;
    for (const auto& [update, path] : files_of_updates(setup.training.model, metric)) updates.push_back(update);
    return updates;
  }

  /// Each validation of the rest of the run is worse than those before.
  void diverge() { setup.optimizer.learn_rate = 30; }
};

TEST(BestCheckpoints, ArePlainModelsWhoseNamesSayMetricAndUpdate) {
  EXPECT_EQ(best_path("dir/m.safetensors", "bleu", 8000), "dir/m.best-bleu-update8000.safetensors");
  BestRun run(2);
  run.setup.training.valid_metrics = {ValidMetric::cross_entropy, ValidMetric::chrf};
  run.train_until(6);
  EXPECT_THAT(run.files_made(),
              ElementsAre("model.best-chrf.safetensors", "model.best-cross-entropy-update4.safetensors",
                          "model.best-cross-entropy-update6.safetensors", "model.best-cross-entropy.safetensors",
                          "model.safetensors", "model.state.safetensors"));
  EXPECT_TRUE(read_file(run.files / "model.best-cross-entropy-update6.safetensors") == run.model_bytes());
}

TEST(BestCheckpoints, OfOneAreTheBestModelAlone) {
  BestRun run(1);
  run.train_until(4);
  EXPECT_THAT(run.files_made(),
              ElementsAre("model.best-cross-entropy.safetensors", "model.safetensors", "model.state.safetensors"));
}

TEST(BestCheckpoints, GiveWayOnlyToBetterOnesAlsoInLaterCalls) {
  BestRun run(3);
  const Progress before = run.train_until(4);
  EXPECT_THAT(run.files_of(), ElementsAre(2, 4));
  run.diverge();
  const Progress after = run.train_until(10);
  EXPECT_EQ(run.files_of().size(), 3u);
  EXPECT_THAT(after.kept.updates.at("cross-entropy"), testing::IsSupersetOf(before.kept.updates.at("cross-entropy")));
  run.setup.training.keep_best = 2;
  run.train_until(12);
  EXPECT_THAT(run.files_of(), ElementsAre(2, 4)) << "fewer are kept now";
}

TEST(BestCheckpoints, OfAnotherRunAreNamedAndLeftAlone) {
  BestRun run(2);
  for (const char* name : {"model.best-cross-entropy-update3.safetensors", "model.best-chrf-update2.safetensors"})
    run.files.make(name, "of another run");
  run.train_until(6);
  EXPECT_THAT(run.files_of(), ElementsAre(3, 4, 6));
  EXPECT_THAT(run.files_of("chrf"), ElementsAre(2));
  EXPECT_THAT(run.log.text(), AllOf(HasSubstr("model.best-cross-entropy-update3.safetensors is not among the 2 best"),
                                    Not(HasSubstr("chrf-update2"))));
}

TEST(BestCheckpoints, ThatAreMissingLeaveTheirPlaceToOthers) {
  BestRun run(2);
  run.train_until(4);
  fs::remove(best_path(run.setup.training.model, "cross-entropy", 2));
  run.diverge();
  const Progress after = run.train_until(6);
  EXPECT_THAT(after.kept.updates.at("cross-entropy"), ElementsAre(Key(4), Key(6)));
  EXPECT_THAT(run.files_of(), ElementsAre(4, 6));
}

TEST(BestCheckpoints, OfOneComeBackIfTheyAreMissing) {
  BestRun run(1);
  run.train_until(4);
  fs::remove(best_path(run.setup.training.model, "cross-entropy"));
  run.diverge();
  run.train_until(6);
  EXPECT_TRUE(read_file(best_path(run.setup.training.model, "cross-entropy")) == run.model_bytes());
}

TEST(BestCheckpoints, OfAnotherValidationTextAreForgottenButNotRemoved) {
  BestRun run(2);
  run.setup.training.valid_metrics = {ValidMetric::chrf};
  run.train_until(4);
  const auto before = run.files_of("chrf");
  EXPECT_FALSE(before.empty());
  run.setup.training.valid_max_lines = 3;
  const Progress after = run.train_until(6);
  EXPECT_THAT(after.kept.updates.at("chrf"), ElementsAre(Key(6)));
  EXPECT_THAT(run.files_of("chrf"), testing::IsSupersetOf(before));
  EXPECT_THAT(run.log.text(), HasSubstr("not among the 2 best checkpoints of this run by chrf"));
}

TEST(BestCheckpoints, ThatCannotBeWrittenCountUntilBetterOnesAre) {
  BestRun run(2);
  const std::string blocked = best_path(run.setup.training.model, "cross-entropy", 4);
  fs::create_directories(blocked + "/inner");
  EXPECT_THAT(message_of([&] { run.train_until(6); }),
              HasSubstr("not all output of the run was written: --keep-best 2 (cross-entropy)"));
  EXPECT_THAT(run.files_of(), ElementsAre(2, 6)) << "nothing is removed for a file that is not there";
  BestRun longer(2);
  fs::create_directories(best_path(longer.setup.training.model, "cross-entropy", 4) + "/inner");
  longer.train_until(8);  // 6 and 8 are better
  EXPECT_THAT(longer.files_of(), ElementsAre(6, 8));
}

// After the rollback to update 4, updates 5 and later come a second time.
TEST(BestCheckpoints, StayInARollbackAndTheBetterOfTwoOfOneUpdateCounts) {
  BestRun run(12);
  TrainingOptions& o = run.setup.training;
  o.valid_freq = o.disp_freq = {1, Frequency::updates};
  o.save_freq = {4, Frequency::updates};
  o.max_skipped = 3;
  o.after = {{10, Frequency::updates}};
  Trainer trainer(run.setup, backend("cpu"));
  bool poisoned = false;
  double first = 0;
  run.log.listen([&](const std::string& line) {
    if (line.find("Up. 6 : Sen.") == std::string::npos || std::exchange(poisoned, true)) return;
    first = trainer.progress().kept.updates.at("cross-entropy").at(5);
    trainer.model().parameters().named().front().value.as<float>()[5 * 16] = std::numeric_limits<float>::quiet_NaN();
  });
  trainer.run();
  EXPECT_EQ(trainer.progress().rollbacks, 1);
  const auto kept = trainer.progress().kept.updates.at("cross-entropy");
  EXPECT_THAT(run.files_of(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(kept.size(), 10u);
  EXPECT_EQ(kept.at(5), first) << "half the rate learns less in one update";
}

}  // namespace
}  // namespace dragoman
