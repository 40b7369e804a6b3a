#include "train/progress.h"

#include <gmock/gmock.h>

namespace dragoman {
namespace {

Progress after(int64_t updates, int64_t target_tokens, Position position) {
  Progress p;
  p.updates = updates;
  p.target_tokens = target_tokens;
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

TEST(Window, WithoutTargetTokensHasNoNaN) {
  const Window window;
  EXPECT_EQ(window.mean_cost(), 0);
  EXPECT_EQ(window.words_per_second(), 0);
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
