#include "optim/average.h"

#include "backend/backend.h"
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
  const Tensor room = average.room();
  average.swap(room);
  EXPECT_THAT(t.values(), testing::ElementsAre(10, 20, 30));
  EXPECT_THAT(values(average), testing::ElementsAre(1, 2, 3));
  average.swap(room);
  EXPECT_THAT(t.values(), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(values(average), testing::ElementsAre(10, 20, 30));
}

// A device that fails while the parameters are smoothed fails again when they are to be swapped back.
TEST_F(AverageOf, ADeviceThatFailsEndsTheRunWithItsError) {
  static bool lost = false;
  Backend device = t.backend;
  device.copy = +[](const Tensor& y, const Tensor& x) {
    if (lost) throw DeviceError("still lost");
    backend("reference").copy(y, x);
  };
  std::optional<MovingAverage> average(std::in_place, device, t.arena, t.parameters, 0.5);
  const auto validate = [&] {
    const Smoothed smoothed(average);
    lost = true;
    throw DeviceError("lost");
  };
  EXPECT_THROW(validate(), DeviceError);
}

TEST_F(AverageOf, NoMemoryIsNeededToSwapBack) {
  std::optional<MovingAverage> average(make(0.5));
  t.set({1, 2, 3});
  {
    const Smoothed smoothed(average);
    std::vector<Tensor> taken;
    const auto take_all = [&] {
      while (true) taken.push_back(t.arena.allocate({1}, DType::u8));
    };
    EXPECT_THROW(take_all(), OutOfMemory);
    EXPECT_THAT(t.values(), testing::ElementsAre(10, 20, 30));
  }
  EXPECT_THAT(t.values(), testing::ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace dragoman
