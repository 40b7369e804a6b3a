#include "runlog/run_curves.h"

#include <gmock/gmock.h>

#include "runlog/json_log.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_of(const RunCurves& run) {
  std::vector<std::string> names;
  for (const Curve& curve : run.curves) names.push_back(curve.name);
  return names;
}

std::vector<int64_t> updates_of(const Curve& curve) {
  std::vector<int64_t> updates;
  for (const CurvePoint& point : curve.points) updates.push_back(point.update);
  return updates;
}

TEST(RunCurves, AreReadFromWhatTheLogWrote) {
  const TemporaryFolder folder;
  {
    JsonLog log(folder / "run.jsonl");
    log.take({.updates = 10, .target_tokens = 900}, RunReport{.cost = 3.5, .learning_rate = 1e-4});
    log.take({.updates = 20, .target_tokens = 1800}, RunReport{.cost = 2.5});
    log.take({.updates = 20, .target_tokens = 1800}, RunValidation{.figures = {{.metric = "bleu", .value = 30.25}}});
    log.take({.updates = 20}, RunEnd{});
    log.close();
  }
  const RunCurves run = read_curves(folder / "run.jsonl");
  EXPECT_THAT(names_of(run), ElementsAre("cost", "learning_rate", "words_per_second", "gradient_norm", "bleu"));
  EXPECT_THAT(updates_of(run.curves[0]), ElementsAre(10, 20));
  EXPECT_EQ(run.curves[0].points[0].value, 3.5);
  EXPECT_EQ(run.curves[0].points[0].target_tokens, 900);
  EXPECT_EQ(run.curves[4].points[0].value, 30.25);
}

TEST(RunCurves, HaveTheAlignmentCostIfTheLogHasIt) {
  const TemporaryFolder folder;
  {
    JsonLog log(folder / "run.jsonl");
    log.take({.updates = 10}, RunReport{.cost = 3, .alignment_cost = 1.5});
    log.take({.updates = 20}, RunReport{.cost = 2});
    log.close();
  }
  const RunCurves run = read_curves(folder / "run.jsonl");
  ASSERT_THAT(names_of(run),
              ElementsAre("cost", "alignment_cost", "learning_rate", "words_per_second", "gradient_norm"));
  EXPECT_THAT(updates_of(run.curves[1]), ElementsAre(10));
  EXPECT_EQ(run.curves[1].points[0].value, 1.5);
}

TEST(RunCurves, ForgetWhatWasLostWhenTheRunWasKilledOrRolledBack) {
  const TemporaryFolder folder;
  {
    JsonLog log(folder / "run.jsonl");
    for (int64_t update : {10, 20, 30}) log.take({.updates = update}, RunReport{.cost = 1});
    log.take({.updates = 20}, RunStarted{.resumes = true});
    log.take({.updates = 25}, RunReport{.cost = 1});
    log.take({.updates = 10}, RunRollback{.from_update = 25});
    log.take({.updates = 15}, RunReport{.cost = 1});
  }
  EXPECT_THAT(updates_of(read_curves(folder / "run.jsonl").curves[0]), ElementsAre(10, 15));
}

}  // namespace
}  // namespace dragoman
