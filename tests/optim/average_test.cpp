#include "optim/average.h"

#include "tests/optim/toy_parameters.h"

namespace dragoman {
namespace {

struct AverageOf : testing::Test {
  AverageOf() { t.set({10, 20, 30}); }
  MovingAverage make(double weight) { return MovingAverage(t.backend, t.arena, t.parameters, weight); }
  std::vector<double> values(const MovingAverage& average) { return t.joined(average.averages()); }
  ToyParameters t;
};

// Weights 9/11 and 9/12: from 10 to 21 by 9/11 of 11 is 19, then to 15 by 3/4 of -4 is 16.
TEST_F(AverageOf, FollowsQuicklyAtFirst) {
  MovingAverage average = make(1e-4);
  t.set({21, 20, 41});
  average.update(1);
  EXPECT_THAT(values(average), near({19, 20, 39}));
  t.set({15, 24, 39});
  average.update(2);
  EXPECT_THAT(values(average), near({16, 23, 39}));
}

// 9/(t+10) has fallen to the weight at t = 80 (9/90 = 0.1) and goes no lower.
TEST_F(AverageOf, FollowsWithItsWeightLater) {
  for (int64_t step : {80, 81, 1'000'000}) {
    MovingAverage average = make(0.1);
    t.set({20, 10, 30});
    average.update(step);
    EXPECT_THAT(values(average), near({11, 19, 30})) << step;
    t.set({10, 20, 30});
  }
}

TEST_F(AverageOf, SwappedTwiceIsAsBefore) {
  MovingAverage average = make(0.5);
  t.set({1, 2, 3});
  average.swap();
  EXPECT_THAT(t.values(), testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(values(average), testing::ElementsAre(1, 2, 3));
  average.swap();
  EXPECT_THAT(t.values(), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(values(average), testing::ElementsAre(10, 20, 30));
}

}  // namespace
}  // namespace dragoman
