#include "runlog/json_log.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/line_reader.h"
#include "tests/read_lines.h"
#include "tests/temporary_folder.h"

namespace dragoman {
namespace {

using nlohmann::json;

constexpr RunMoment at_update_7 = {
    .seconds = 1.5000024, .epoch = 2, .updates = 7, .epoch_sentences = 40, .target_tokens = 900};

// 1,000,000,000 seconds after 1970 began: 9 September 2001, 01:46:40 in Greenwich.
TEST(JsonLine, OfEveryEventSaysWhenAndWhere) {
  for (const RunEvent& event : std::vector<RunEvent>{RunStarted{}, RunReport{}, RunValidation{}, RunSave{}, RunSkip{},
                                                     RunRollback{}, RunDecay{}, RunEnd{}}) {
    const json line = json::parse(json_line(at_update_7, event, 1'000'000'000));
    EXPECT_EQ(line.at("time"), "2001-09-09T01:46:40Z");
    EXPECT_EQ(line.at("seconds"), 1.500002);  // updates of small models take less than a millisecond
    EXPECT_EQ(line.at("epoch"), 2);
    EXPECT_EQ(line.at("update"), 7);
    EXPECT_EQ(line.at("epoch_sentences"), 40);
    EXPECT_EQ(line.at("target_tokens"), 900);
  }
}

TEST(JsonLine, OfAValidationHasTheMetricsByName) {
  RunValidation validation{.figures = {{.metric = "bleu", .value = 30.25, .better = true},
                                       {.metric = "perplexity", .value = std::numeric_limits<double>::infinity()}},
                           .stalled = 1};
  const json line = json::parse(json_line(at_update_7, validation, 0));
  EXPECT_EQ(line.at("event"), "validation");
  EXPECT_EQ(line.at("metrics"), json::parse(R"({"bleu": 30.25, "perplexity": null})"));
  EXPECT_EQ(line.at("best"), json::parse(R"(["bleu"])"));
  EXPECT_EQ(line.at("stalled"), 1);
  validation.requested = true;
  EXPECT_EQ(json::parse(json_line(at_update_7, validation, 0)).at("best"), json::array()) << "it does not count";
}

TEST(JsonLine, OfADecayHasTheRateAndTheReason) {
  const json line = json::parse(json_line(at_update_7, RunDecay{3.5e-4, 0.5, 0.25, "update 4,000"}, 0));
  EXPECT_EQ(line.at("event"), "decay");
  EXPECT_EQ(line.at("learning_rate"), 3.5e-4);
  EXPECT_EQ(line.at("factor"), 0.5);
  EXPECT_EQ(line.at("rate_factor"), 0.25);
  EXPECT_EQ(line.at("reason"), "update 4,000");
}

TEST(JsonLine, IsOneLineWhateverTheNames) {
  const std::string line = json_line(at_update_7, RunSave{"a\nb\xff", ""}, 0);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line).at("model"), "a\nb\xEF\xBF\xBD");
}

TEST(JsonLog, BeginsALineOfItsOwnAfterHalfALine) {
  const TemporaryFolder folder;
  const std::string path = folder.make("run.jsonl", "{\"event\":\"rep");
  JsonLog(path).take(at_update_7, RunEnd{});
  const auto lines = read_lines(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(json::parse(lines[1]).at("event"), "end");
}

}  // namespace
}  // namespace dragoman
