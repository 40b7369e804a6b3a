#include "train/progress_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json sound() {
  return json::parse(to_json(StoredProgress{{.updates = 7, .best = {{"bleu", 12.5}}, .position = {1, 2}}, 6, {2.5}}));
}

std::string complaint(const std::string& text) {
  try {
    progress_from(text, "m.state");
    return "";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.state"));
    return error.what();
  }
}

TEST(ProgressJson, ComesBackAsItWas) {
  const auto [progress, adam_steps, baseline] = progress_from(sound().dump(), "m.state");
  EXPECT_EQ(progress.updates, 7);
  EXPECT_EQ(progress.best.at("bleu"), 12.5);
  EXPECT_EQ(progress.position, (Position{1, 2}));
  EXPECT_EQ(adam_steps, 6);
  EXPECT_EQ(baseline.value, 2.5);
}

TEST(ProgressJson, KeepsWhatItsBestValuesMeasure) {
  const Progress p{.measured = {{"bleu", "0123456789abcdef"}}, .validated = 40};
  const Progress back = progress_from(to_json(StoredProgress{p, 0, {}}), "m.state").progress;
  EXPECT_EQ(back.measured, p.measured);
  EXPECT_EQ(back.validated, 40);
  json damaged = sound();
  damaged["measured"] = {{"bleu", 3}};
  EXPECT_THAT(complaint(damaged.dump()), HasSubstr("'measured.bleu' is 3 in its progress, expected a text"));
}

TEST(ProgressJson, KeepsTheLongestLengthsOfAStream) {
  const Progress p{.longest = {31, 40}};
  const TrainedLengths longest = progress_from(to_json(StoredProgress{p, 0, {}}), "m.state").progress.longest;
  EXPECT_EQ(longest.source, 31);
  EXPECT_EQ(longest.target, 40);
  json damaged = sound();
  damaged["longest_target"] = -1;
  EXPECT_THAT(complaint(damaged.dump()), HasSubstr("'longest_target' is -1 in its progress, expected a number from 0"));
}

TEST(ProgressJson, KeepsTheValuesOfTheBestCheckpoints) {
  const Progress p{.kept = {.updates = {{"bleu", {{8000, 12.5}, {9000, 0.1}}}, {"chrf", {{1, -2}}}}}};
  EXPECT_EQ(progress_from(to_json(StoredProgress{p, 0, {}}), "m.state").progress.kept.updates, p.kept.updates);
  json damaged = sound();
  damaged["kept_updates"] = {{"bleu", {{"8000", "high"}}}};
  EXPECT_THAT(complaint(damaged.dump()), HasSubstr("'kept_updates.bleu.8000' is \"high\" in its progress"));
  for (const char* update : {"", "-1", "8k", "1234567890123456789"}) {
    damaged["kept_updates"] = {{"bleu", {{update, 1}}}};
    EXPECT_THAT(complaint(damaged.dump()), HasSubstr("expected numbers of updates")) << update;
  }
}

TEST(ProgressJson, KeepsWhichMetricsHaveStalledAndHowTheRateHasFallen) {
  const Progress p{.rollbacks = 1,
                   .decayed = 0.7 * 0.7,
                   .reduced_rate = 0.01,
                   .stalled = {{"bleu", 3}, {"chrf", 0}},
                   .most_stalled = 5};
  const Progress back = progress_from(to_json(StoredProgress{p, 0, {}}), "m.state").progress;
  EXPECT_EQ(back.stalled, p.stalled);
  EXPECT_EQ(back.most_stalled, 5);
  EXPECT_EQ(back.decayed, p.decayed);
  EXPECT_EQ(back.reduced_rate, 0.01);
  json damaged = sound();
  damaged["stalled"] = {{"bleu", -3}};
  EXPECT_THAT(complaint(damaged.dump()), HasSubstr("'stalled.bleu' is -3 in its progress, expected a whole number"));
  damaged = sound();
  damaged["decayed"] = 2;
  EXPECT_THAT(complaint(damaged.dump()), HasSubstr("'decayed' is 2 in its progress, expected a number from 0 to 1"));
}

TEST(ProgressJson, ReadsStatesOfOlderVersions) {
  json older = sound();
  older["stalled"] = 3;
  older["rollbacks"] = 1;
  older["halved_rate"] = 0.02;
  const Progress unnamed = progress_from(older.dump(), "m.state").progress;
  EXPECT_THAT(unnamed.stalled, testing::ElementsAre(testing::Pair("", 3))) << "of the first metric";
  EXPECT_EQ(unnamed.reduced_rate, 0.02);
  EXPECT_EQ(unnamed.rate_factor(), 0.5);
  older["deciding"] = "bleu";
  EXPECT_THAT(progress_from(older.dump(), "m.state").progress.stalled, testing::ElementsAre(testing::Pair("bleu", 3)));
  older["stalled"] = 0;
  EXPECT_THAT(progress_from(older.dump(), "m.state").progress.stalled, testing::IsEmpty());
  older["stalled"] = 3;
  older["deciding"] = 3;
  EXPECT_THAT(complaint(older.dump()), HasSubstr("'deciding' is 3 in its progress, expected a text"));
}

TEST(ProgressJson, RefusesCountsThatNoRunHas) {
  for (const char* key : {"updates", "target_tokens", "sentences", "epoch_sentences", "skipped", "skipped_in_a_row",
                          "rollbacks", "loss_scale_since", "stalled", "epoch", "batch", "adam_steps"})
    for (const json& value : {json(-1), json(0.5), json("1"), json(nullptr), json(UINT64_MAX), json(INT64_MAX)}) {
      json damaged = sound();
      damaged[key] = value;
      EXPECT_THAT(complaint(damaged.dump()),
                  HasSubstr(fmt::format("'{}' is {} in its progress, expected a whole number "
                                        "from 0 to 1000000000000000",
                                        key, value.dump())));
    }
}

TEST(ProgressJson, RefusesNumbersThatNoRunHas) {
  const auto with = [](const char* key, const json& value) {
    json damaged = sound();
    damaged[key] = value;
    return complaint(damaged.dump());
  };
  EXPECT_THAT(with("baseline", -1), HasSubstr("'baseline' is -1 in its progress, expected a number from 0"));
  EXPECT_THAT(with("loss_scale", 0), HasSubstr("'loss_scale' is 0 in its progress"));
  EXPECT_THAT(with("loss_scale", 3), HasSubstr("expected a power of two"));
  EXPECT_THAT(with("best", {{"bleu", nullptr}}), HasSubstr("'best.bleu' is null in its progress"));
  EXPECT_THAT(with("best", {1}), HasSubstr("expected an object"));
  EXPECT_EQ(with("best", {{"cross-entropy", -0.5}}), "");
}

TEST(ProgressJson, RefusesWhatIsNoProgress) {
  EXPECT_THAT(complaint("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint(std::string(200'000, '[') + std::string(200'000, ']')), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("has no 'updates'"));
}

}  // namespace
}  // namespace dragoman
