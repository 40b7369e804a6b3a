#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/line_reader.h"
#include "tests/read_lines.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  for (const std::string& line : read_lines(path)) lines.push_back(json::parse(line));
  return lines;
}

std::vector<std::string> events_of(const std::vector<json>& lines) {
  std::vector<std::string> events;
  for (const json& line : lines) events.push_back(line.at("event"));
  return events;
}

TEST(JsonLog, HasTheWholeRunAndIsResumedWithIt) {
  ToyRun run;
  run.setup.training.log_json = run.files / "run.jsonl";
  run.setup.training.disp_freq = {2, Frequency::updates};
  run.setup.training.valid_freq = {4, Frequency::updates};
  run.train_until(4);
  const auto first = lines_of(run.setup.training.log_json);
  EXPECT_THAT(events_of(first), ElementsAre("start", "report", "report", "validation", "save", "end"));
  EXPECT_EQ(first.front().at("resumed"), false);
  EXPECT_EQ(first[1].at("update"), 2);
  EXPECT_GT(first[1].at("cost").get<double>(), 0);
  EXPECT_EQ(first.back().at("reason"), "after");
  run.train_until(5);
  const auto both = lines_of(run.setup.training.log_json);
  EXPECT_THAT(events_of({both.begin() + int64_t(first.size()), both.end()}),
              ElementsAre("start", "report", "save", "validation", "end"));
  EXPECT_EQ(both[first.size()].at("event"), "start");
  EXPECT_EQ(both[first.size()].at("resumed"), true);
  EXPECT_EQ(both[first.size()].at("update"), 4);
}

TEST(RunLog, ThatCannotBeWrittenIsAnErrorBeforeTheRunAndAtItsEnd) {
  ToyRun run;
  run.setup.training.log_json = run.files / "nowhere/run.jsonl";
  EXPECT_THAT(message_of([&] { run.train_until(1); }), HasSubstr("there is no folder"));
  run.setup.training.log_json = "/dev/full";  // takes nothing: the disk is always full
  EXPECT_THAT(message_of([&] { run.train_until(2); }),
              AllOf(HasSubstr("not all output of the run was written: --log-json: /dev/full"), HasSubstr("No space")));
  EXPECT_THAT(run.log.text(), HasSubstr("training continues without --log-json"));
  run.setup.training.log_json.clear();
  EXPECT_EQ(run.train_until(2).updates, 2) << "the run went on and saved its model";
  EXPECT_THAT(run.log.text(), HasSubstr("Resuming from"));
}

TEST(RunLog, ReportsAtTheEndThatTranslationsOfValidationAreMissing) {
  ToyRun run;
  run.setup.training.valid_metrics = {ValidMetric::chrf};
  run.setup.training.valid_freq = {2, Frequency::updates};
  run.setup.training.valid_translation_output = "/dev/full";
  EXPECT_THAT(message_of([&] { run.train_until(2); }), HasSubstr("--valid-translation-output: /dev/full"));
}

}  // namespace
}  // namespace dragoman
