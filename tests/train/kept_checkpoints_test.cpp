#include "train/kept_checkpoints.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/temporary_folder.h"
#include "tests/train/log_lines.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// A run whose model is a file with the number of its update, and whose figure is the cross-entropy: less is better.
struct Keeping {
  explicit Keeping(TrainingOptions chosen) : options(std::move(chosen)) { options.model = folder / "m"; }

  void validate(int64_t update, double value) {
    progress.updates = update;
    kept.keep_best({.metric = "cross-entropy", .value = value, .better = true}, save);
  }
  std::map<int64_t, double> values() { return progress.kept.updates["cross-entropy"]; }
  std::vector<int64_t> updates_of_files(std::string_view metric) const {
    std::vector<int64_t> updates;
    for (const auto& [update, path] : files_of_updates(options.model, metric)) updates.push_back(update);
    return updates;
  }

  TemporaryFolder folder;
  LogLines lines;
  TrainingOptions options;
  Progress progress;
  Unwritten unwritten;
  RunLog log{{}, unwritten};
  std::unique_ptr<Communicator> alone = single_process();
  KeptCheckpoints kept{options, {}, *alone, progress, log, unwritten};
  KeptCheckpoints::Save save = [this](const std::string& path) { std::ofstream(path) << progress.updates; };
};

TEST(KeptCheckpoints, AreTheBestWhateverTheirOrder) {
  Keeping run({.keep_best = 2});
  const double values[] = {5, 3, 4, 6, 2, std::nan("")};
  for (int update = 1; update <= 6; ++update) run.validate(update, values[update - 1]);
  EXPECT_THAT(run.updates_of_files("cross-entropy"), ElementsAre(2, 5));
  EXPECT_THAT(run.values(), ElementsAre(Pair(2, 3), Pair(5, 2)));
  EXPECT_EQ(run.folder.content_of("m.best-cross-entropy"), "5");
  EXPECT_EQ(run.progress.kept.values.at("cross-entropy"), 2);
}

TEST(KeptCheckpoints, LeaveTheFilesOfOtherRunsAndWarnOfThem) {
  Keeping run({.keep_last = 1, .keep_best = 2});
  run.folder.make("m.best-cross-entropy-update7", "of another run");
  run.folder.make("m.update7", "of another run");
  run.kept.begin();
  for (int update = 1; update <= 3; ++update) {
    run.validate(update, -update);
    EXPECT_TRUE(run.kept.keep_last(run.save));
  }
  EXPECT_THAT(run.updates_of_files("cross-entropy"), ElementsAre(2, 3, 7));
  EXPECT_THAT(run.updates_of_files(""), ElementsAre(3, 7));
  run.kept.warn_of_others();
  EXPECT_THAT(run.lines.text(), HasSubstr("update7 is not among the 2 best checkpoints of this run by cross-entropy"));
  EXPECT_THAT(run.lines.text(), HasSubstr("m.update7 is not among the last 1 checkpoints of this run"));
}

// A run with --no-reload: 1 and 3 are of the run before, and 3 is overwritten.
TEST(KeptCheckpoints, LeaveNumberedOnesThatWereThereBefore) {
  Keeping run({.keep_last = 1});
  run.folder.make("m.update1", "of another run");
  run.folder.make("m.update3", "of another run");
  run.kept.begin();
  run.progress.updates = 2;
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_THAT(run.updates_of_files(""), ElementsAre(1, 2, 3));
  run.progress.updates = 3;
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_THAT(run.updates_of_files(""), ElementsAre(1, 3));
  EXPECT_EQ(run.folder.content_of("m.update1"), "of another run");
  EXPECT_EQ(run.folder.content_of("m.update3"), "3");
  run.kept.warn_of_others();
  EXPECT_THAT(run.lines.text(), HasSubstr("m.update1 is not among the last 1 checkpoints of this run"));
  run.progress.updates = 4;
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_THAT(run.updates_of_files(""), ElementsAre(1, 4)) << "3 is its own now";
}

TEST(KeptCheckpoints, ReplaceNumberedOnesOfTheRunThatIsResumed) {
  Keeping run({.keep_last = 1});
  run.folder.make("m.update1", "of the run");
  run.kept.resume();
  run.progress.updates = 2;
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_THAT(run.updates_of_files(""), ElementsAre(2));
}

TEST(KeptCheckpoints, AreForgottenOnceTheirFilesAreGone) {
  Keeping run({.keep_best = 2});
  run.validate(1, 5);
  run.validate(2, 4);
  std::filesystem::remove(run.folder / "m.best-cross-entropy-update1");
  std::filesystem::remove(run.folder / "m.best-cross-entropy");
  run.kept.resume();
  EXPECT_THAT(run.values(), ElementsAre(Pair(2, 4)));
  EXPECT_THAT(run.progress.kept.values, IsEmpty());
  run.validate(3, 9);
  EXPECT_EQ(run.folder.content_of("m.best-cross-entropy"), "3") << "the best of the files that are there";
}

TEST(KeptCheckpoints, AreComparedWithWhatTheFilesHave) {
  Keeping run({.keep_best = 1});
  run.validate(1, 5);
  run.options.keep_best = 0;
  run.validate(2, 3);
  EXPECT_EQ(run.folder.content_of("m.best-cross-entropy"), "1");
  run.options.keep_best = 1;
  run.validate(3, 4);
  EXPECT_EQ(run.folder.content_of("m.best-cross-entropy"), "3") << "better than the file, though not than update 2";

  Keeping other({.keep_best = 0});
  other.folder.make("m.best-cross-entropy", "of another run");
  other.validate(1, 3);
  other.options.keep_best = 1;
  other.kept.resume();
  other.validate(2, 4);
  EXPECT_EQ(other.folder.content_of("m.best-cross-entropy"), "2");
}

TEST(KeptCheckpoints, StayAfterARollback) {
  Keeping run({.keep_best = 2}), without({.keep_best = 0});
  for (Keeping* each : {&run, &without}) {
    each->validate(1, 5);
    const Progress before = each->progress;
    each->progress.kept = {};
    each->kept.roll_back(before.kept);
  }
  EXPECT_EQ(run.progress.kept.values.at("cross-entropy"), 5);
  EXPECT_THAT(without.progress.kept.values, IsEmpty()) << "there are no files that could be ahead of the state";
}

TEST(KeptCheckpoints, OfTheLastUpdatesGiveWayToTheModel) {
  Keeping run({.keep_last = 1});
  run.progress.updates = 1;
  EXPECT_FALSE(run.kept.has_last());
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_TRUE(run.kept.has_last());
  run.kept.give_up_last("the disk is full");
  EXPECT_THAT(run.updates_of_files(""), IsEmpty());
  EXPECT_THROW(run.unwritten.require_none(), Error);
  run.progress.updates = 2;
  EXPECT_TRUE(run.kept.keep_last(run.save));
  EXPECT_NO_THROW(run.unwritten.require_none()) << "the next one was written";
}

}  // namespace
}  // namespace dragoman
