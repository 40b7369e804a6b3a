#include "runlog/text_log.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/train/log_lines.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr RunMoment at_update_1000 = {.seconds = 10, .epoch = 1, .updates = 1000, .epoch_sentences = 1234567};

TEST(ReportLine, HasMariansFields) {
  const std::string line = report_line(at_update_1000, {.cost = 4,
                                                        .seconds = 3.214,
                                                        .words_per_second = 12345.674,
                                                        .learning_rate = 3e-4,
                                                        .gradient_norm = 1.23456,
                                                        .remaining = 3723});
  EXPECT_EQ(line,
            "Ep. 1 : Up. 1000 : Sen. 1,234,567 : Cost 4.00000000 : Time 3.21s : 12345.67 words/s : gNorm 1.2346 : "
            "L.r. 3.0000e-04 : ETA 1:02:03");
}

TEST(ReportLine, PromisesNoEndWhereNoneIsKnown) {
  EXPECT_THAT(report_line(at_update_1000, {.learning_rate = 1e-3}), EndsWith("L.r. 1.0000e-03"));
}

TEST(GroupedSeconds, AreHoursMinutesAndSeconds) {
  EXPECT_EQ(grouped_seconds(0), "0:00:00");
  EXPECT_EQ(grouped_seconds(59.6), "0:01:00");
  EXPECT_EQ(grouped_seconds(3723), "1:02:03");
  EXPECT_EQ(grouped_seconds(100 * 3600), "100:00:00");
}

TEST(TextLog, HasALineForEachMetricAndSaysHowOftenItStalled) {
  LogLines log;
  RunValidation validation{.figures = {{.metric = "bleu", .value = 30, .any_best = true, .best = 31.5, .stalled = 2},
                                       {.metric = "chrf", .value = 50, .better = true},
                                       {.metric = "cross-entropy", .value = 3, .better = true, .stalled = 1},
                                       {.metric = "perplexity", .value = 9}}};
  TextLog(false).take(at_update_1000, validation);
  EXPECT_THAT(log.lines(),
              ElementsAre("[valid] Ep. 1 : Up. 1000 : bleu : 30 : stalled 2 times (last best: 31.5)",
                          "[valid] Ep. 1 : Up. 1000 : chrf : 50 : new best",
                          "[valid] Ep. 1 : Up. 1000 : cross-entropy : 3 : stalled 1 times (new best, by no more "
                          "than --early-stopping-epsilon)",
                          "[valid] Ep. 1 : Up. 1000 : perplexity : 9 : not finite"));
}

TEST(TextLog, SaysWhichValuesAreNotFinite) {
  LogLines log;
  const double nan = std::nan("");
  RunValidation validation{
      .figures = {{.metric = "cross-entropy", .value = -nan, .any_best = true, .best = 5.25, .stalled = 1},
                  {.metric = "perplexity", .value = nan, .stalled = 1},
                  {.metric = "bleu", .value = INFINITY, .any_best = true, .best = 3}}};
  TextLog(false).take(at_update_1000, validation);
  EXPECT_THAT(
      log.lines(),
      ElementsAre("[valid] Ep. 1 : Up. 1000 : cross-entropy : nan : stalled 1 times (not finite, last best: 5.25)",
                  "[valid] Ep. 1 : Up. 1000 : perplexity : nan : stalled 1 times (not finite)",
                  "[valid] Ep. 1 : Up. 1000 : bleu : inf : not finite, last best: 3"));
}

TEST(TextLog, SaysWhyASaveFailedAndThatNothingIsLost) {
  LogLines log;
  TextLog(false).take(at_update_1000, RunSave{"m", "m: writing failed: No space left on device"});
  EXPECT_THAT(log.text(), testing::AllOf(HasSubstr("update 1,000 was not saved as m;"),
                                         HasSubstr("older files are kept"), HasSubstr("No space left on device")));
}

TEST(TextLog, SaysWhyTheRateFalls) {
  LogLines log;
  TextLog(false).take(at_update_1000, RunDecay{3.5e-4, 0.5, 0.25, "no improvement of bleu for 3 validations"});
  EXPECT_THAT(log.lines(), ElementsAre("Learning rate reduced to 0.00035 (×0.5): no improvement of bleu for 3 "
                                       "validations"));
}

TEST(TextLog, EndsWithTheReason) {
  LogLines log;
  TextLog text(true);
  text.take(at_update_1000, RunEnd{RunEnd::after, 3, 0});
  text.take(at_update_1000, RunEnd{RunEnd::early_stopping, 3, 10});
  text.take(at_update_1000, RunEnd{RunEnd::signal, 3, 0});
  text.take(at_update_1000, RunEnd{RunEnd::after, 1.43, 0});
  text.take(at_update_1000, RunEnd{RunEnd::after, 0.0123, 0});
  EXPECT_THAT(log.lines(),
              ElementsAre("Training finished after 1,000 updates, 3 epochs",
                          "Training finished: 10 validations without improvement, after 1,000 updates, 3 epochs",
                          "Stopped by a signal after 1,000 updates, 3 epochs",
                          "Training finished after 1,000 updates, 1.4 epochs",
                          "Training finished after 1,000 updates, 0.01 epochs"));
}

}  // namespace
}  // namespace dragoman
