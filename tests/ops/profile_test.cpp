#include "backend/profile.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "backend/recorder.h"
#include "backend/registry.h"
#include "ops/linear.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Profile, CountsCallsAndOperationsOfWhatWasCalledAndNothingElse) {
  ByHand t("cpu", DType::f32);
  const Profile profile(backend("cpu"));
  Context cx{.backend = profile.backend(), .arena = t.arena};
  const Var x = t.random({64, 512}), w = t.random({512, 512}, 1);
  const auto expected = values_of(linear(t.cx, x, w, Var()));
  for (int i = 0; i < 1234; ++i) linear(cx, t.random({1, 3}), t.random({2, 3}), Var());
  EXPECT_EQ(values_of(linear(cx, x, w, Var())), expected);
  const std::string table = profile.table();
  EXPECT_THAT(table, testing::ContainsRegex("linear +1,235 +[0-9.]+ +[0-9.]+% +[0-9.]+\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("outside kernels"), Not(HasSubstr("layer_norm"))));
  EXPECT_FALSE(backend("cpu").linear.measured());  // the shared backend is unchanged
}

// A device that uses host memory.
TEST(Profile, CountsAllocationsAndWaitsOfADeviceAndTimesItsKernelsByItsOwnClock) {
  static DeviceCounts counts;
  static int clock;
  static const auto seconds = [](const Moment& m) { return *static_cast<const int*>(m.get()); };
  static const DeviceMemory memory{
      .download = [](void*, const void*, int64_t) { ++counts.waits; },
      .finish = [] { ++counts.waits; },
      .counts = [] { return counts; },
      .now = []() -> Moment { return std::make_shared<int>(clock += 2); },
      .seconds_between = [](const Moment& begin, const Moment& end) { return double(seconds(end) - seconds(begin)); }};
  ByHand t("cpu", DType::f32);
  Backend device = backend("cpu");
  static const Recorder recorder{};
  device.memory = &memory;
  device.recorder = &recorder;
  counts = {7, 8};
  const Profile profile(device);
  EXPECT_EQ(profile.backend().recorder, nullptr) << "it looks at kernels one by one";
  Context cx{.backend = profile.backend(), .arena = t.arena};
  for (int i = 0; i < 1005; ++i) linear(cx, t.random({1, 3}), t.random({2, 3}), Var());
  counts.allocations += 1234;
  counts.slow_products += 3;
  for (int i = 0; i < 2; ++i) memory.download(nullptr, nullptr, 0);
  EXPECT_EQ(counts.waits, 8 + 2) << "the profile itself does not wait";
  for (int i = 0; i < 2; ++i) EXPECT_THAT(profile.table(), testing::ContainsRegex("linear +1,005 +2010\\.00"));
  EXPECT_THAT(profile.table(),
              testing::ContainsRegex("allocations on the device +1,234\nwaits for the device +2\nslow products +3\n$"));
}

TEST(Profile, SaysNothingOfADeviceWhereThereIsNone) {
  EXPECT_THAT(Profile(backend("cpu")).table(), Not(HasSubstr("device")));
}

TEST(Backend, HasEverySlotInForEachKernel) {
  Backend b = backend("cpu");
  int64_t slots = 0;
  for_each_kernel(b, [&](auto& slot) { slots += int64_t(sizeof slot); });
  EXPECT_EQ(slots, int64_t(sizeof(ElementwiseKernels) + sizeof(ProductKernels) + sizeof(EmbeddingKernels) +
                           sizeof(NormKernels) + sizeof(AttentionKernels) + sizeof(RecurrentKernels) +
                           sizeof(LossKernels) + sizeof(RowKernels) + sizeof(OptimizerKernels)));
}

}  // namespace
}  // namespace dragoman
