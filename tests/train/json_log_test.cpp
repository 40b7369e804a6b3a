#include "train/json_log.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/line_reader.h"
#include "tests/train/toy_run.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr RunMoment now = {.seconds = 1.5, .epoch = 2, .updates = 7, .epoch_sentences = 40, .target_tokens = 900};

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

// 1,000,000,000 seconds after 1970 began: 9 September 2001, 01:46:40 in Greenwich.
TEST(JsonLine, OfEveryEventSaysWhenAndWhere) {
  for (const RunEvent& event : std::vector<RunEvent>{RunStarted{}, RunReport{}, RunValidation{}, RunSave{}, RunSkip{},
                                                     RunRollback{}, RunEnd{}}) {
    const json line = json::parse(json_line(now, event, 1'000'000'000));
    EXPECT_EQ(line.at("time"), "2001-09-09T01:46:40Z");
    EXPECT_EQ(line.at("seconds"), 1.5);
    EXPECT_EQ(line.at("epoch"), 2);
    EXPECT_EQ(line.at("update"), 7);
    EXPECT_EQ(line.at("epoch_sentences"), 40);
    EXPECT_EQ(line.at("target_tokens"), 900);
  }
}

TEST(JsonLine, OfAValidationHasTheMetricsByName) {
  const RunValidation validation{
      .figures = {{.metric = "bleu", .value = 30.25, .better = true},
                  {.metric = "perplexity", .value = std::numeric_limits<double>::infinity()}},
      .stalled = 1};
  const json line = json::parse(json_line(now, validation, 0));
  EXPECT_EQ(line.at("event"), "validation");
  EXPECT_EQ(line.at("metrics"), json::parse(R"({"bleu": 30.25, "perplexity": null})"));
  EXPECT_EQ(line.at("best"), json::parse(R"(["bleu"])"));
  EXPECT_EQ(line.at("stalled"), 1);
}

TEST(JsonLine, IsOneLineWhateverTheNames) {
  const std::string line = json_line(now, RunSave{"a\nb\xff", ""}, 0);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line).at("model"), "a\nb\xEF\xBF\xBD");
}

TEST(JsonLog, TellsTheWholeRunAndResumesWithIt) {
  ToyRun run;
  run.setup.training.log_json = run.files.path("run.jsonl");
  run.setup.training.disp_freq = {2, Frequency::updates};
  run.setup.training.valid_freq = {4, Frequency::updates};
  run.train_until(4);
  const auto first = lines_of(run.setup.training.log_json);
  EXPECT_THAT(events_of(first), ElementsAre("start", "report", "report", "validation", "save", "end"));
  EXPECT_EQ(first.front().at("goes_on"), false);
  EXPECT_EQ(first[1].at("update"), 2);
  EXPECT_GT(first[1].at("cost").get<double>(), 0);
  EXPECT_EQ(first.back().at("reason"), "after");
  run.train_until(5);
  const auto both = lines_of(run.setup.training.log_json);
  EXPECT_THAT(events_of({both.begin() + int64_t(first.size()), both.end()}),
              ElementsAre("start", "report", "save", "end"));
  EXPECT_EQ(both[first.size()].at("event"), "start");
  EXPECT_EQ(both[first.size()].at("goes_on"), true);
  EXPECT_EQ(both[first.size()].at("update"), 4);
}

TEST(JsonLog, BeginsALineOfItsOwnAfterHalfALine) {
  const TextFiles files;
  const std::string path = files.write("run.jsonl", "{\"event\":\"rep");
  JsonLog(path).take(now, RunEnd{});
  const auto lines = read_lines(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::parse(lines[1]).at("event"), "end");
}

TEST(RunLog, ThatCannotBeWrittenIsAnErrorBeforeTheRunAndAWarningInIt) {
  ToyRun run;
  run.setup.training.log_json = run.files.path("nowhere/run.jsonl");
  EXPECT_THAT(message_of([&] { run.train_until(1); }), testing::HasSubstr("there is no folder"));
  run.setup.training.log_json = "/dev/full";  // takes nothing: the disk is always full
  EXPECT_EQ(run.train_until(2).updates, 2);
  EXPECT_THAT(run.log.text(), testing::HasSubstr("training continues without --log-json /dev/full"));
}

}  // namespace
}  // namespace dragoman
