#include "train/progress.h"

#include <gmock/gmock.h>

#include <regex>

namespace dragoman {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Progress after(int64_t updates, int64_t labels, Position position) {
  Progress p;
  p.updates = updates;
  p.labels = labels;
  p.position = position;
  return p;
}

std::vector<int> due_at(Frequency frequency, const std::vector<Progress>& run, const Progress& start = {}) {
  Recurring recurring(frequency, start);
  std::vector<int> due;
  for (size_t i = 0; i < run.size(); ++i)
    if (recurring.due(run[i])) due.push_back(int(i));
  return due;
}

TEST(ReportLine, HasMariansFields) {
  Progress p = after(1000, 0, {0, 17});
  p.epoch_sentences = 1234567;
  Window window;
  window.cost = 8;
  window.labels = 2;
  window.norm = 1.23456;
  const std::string line = report_line(p, window, 3e-4, 3723);
  const std::regex marian(
      R"(Ep\. \d+ : Up\. \d+ : Sen\. [\d,]+ : Cost \d+\.\d{8} : Time \d+\.\d\ds : \d+\.\d\d words/s : gNorm \d+\.\d{4})"
      R"( : L\.r\. \d\.\d{4}e-\d\d : ETA \d+:\d\d:\d\d)");
  EXPECT_TRUE(std::regex_match(line, marian)) << line;
  EXPECT_THAT(line, HasSubstr("Ep. 1 : Up. 1000 : Sen. 1,234,567 : Cost 4.00000000 : Time "));
  EXPECT_THAT(line, EndsWith(" words/s : gNorm 1.2346 : L.r. 3.0000e-04 : ETA 1:02:03"));
}

TEST(ReportLine, PromisesNoEndWhereNoneIsKnown) {
  EXPECT_THAT(report_line(after(1, 0, {}), {}, 1e-3, -1), EndsWith("L.r. 1.0000e-03"));
}

TEST(ReportLine, OfAWindowWithoutLabelsHasNoNaN) {
  EXPECT_THAT(report_line(after(1, 0, {}), {}, 1e-3, -1), HasSubstr("Cost 0.00000000"));
}

TEST(GroupedSeconds, AreHoursMinutesAndSeconds) {
  EXPECT_EQ(grouped_seconds(0), "0:00:00");
  EXPECT_EQ(grouped_seconds(59.6), "0:01:00");
  EXPECT_EQ(grouped_seconds(3723), "1:02:03");
  EXPECT_EQ(grouped_seconds(100 * 3600), "100:00:00");
}

TEST(Recurring, IsDueAtMultiples) {
  const std::vector<Progress> run = {after(1, 90, {0, 1}), after(2, 110, {0, 2}), after(3, 190, {1, 0}),
                                     after(4, 210, {1, 1}), after(5, 450, {2, 0})};
  EXPECT_THAT(due_at({2, Frequency::updates}, run), testing::ElementsAre(1, 3));
  EXPECT_THAT(due_at({1, Frequency::epochs}, run), testing::ElementsAre(2, 4));
  EXPECT_THAT(due_at({100, Frequency::target_tokens}, run), testing::ElementsAre(1, 3, 4));
}

TEST(Recurring, IsDueAtTheSamePointsWhereverARunBegins) {
  EXPECT_THAT(due_at({4, Frequency::updates}, {after(7, 0, {}), after(8, 0, {})}, after(6, 0, {})),
              testing::ElementsAre(1));
}

TEST(Recurring, OfZeroIsNever) {
  for (auto unit : {Frequency::updates, Frequency::epochs, Frequency::target_tokens, Frequency::minutes})
    EXPECT_THAT(due_at({0, unit}, {after(1, 100, {1, 0}), after(2, 200, {2, 0})}), testing::IsEmpty());
}

TEST(Recurring, OfMinutesWaitsForTheClock) {
  EXPECT_THAT(due_at({1, Frequency::minutes}, {after(1000, 100000, {10, 0})}), testing::IsEmpty());
}

TEST(Clock, LeavesOutPauses) {
  const Clock whole;
  Clock clock;
  const Clock pause;
  while (pause.seconds() < 0.01) {}
  clock.leave_out(pause);
  const double rest = clock.seconds();
  EXPECT_LE(rest, whole.seconds() - 0.01);
}

}  // namespace
}  // namespace dragoman
