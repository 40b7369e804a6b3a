#include <gmock/gmock.h>

#include "backend/backend.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

// y = 2x, by filling with zero and adding twice.
OpCase add_case(int64_t rows, int64_t cols) {
  OpCase c{fmt::format("{} x {}", rows, cols), {{"x", {rows, cols}}}};
  c.op = [](Context& cx, const OpInputs& in) {
    const Var y = cx.make(in.at("x").shape(), in.at("x").dtype(), {});
    cx.backend.fill(y, 0.5);
    cx.backend.add(y, in.at("x"), 3);
    cx.backend.add(y, in.at("x"), -1);
    return y;
  };
  c.differences = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(FillAndAdd, OpCheck,
                         testing::Values(add_case(0, 3), add_case(1, 1), add_case(3, 17), add_case(33, 33),
                                         add_case(2, 500)),
                         name_of_case);

struct Elementwise : testing::TestWithParam<std::pair<const char*, DType>> {
  ByHand t{GetParam().first, GetParam().second};
  Tensor wide = tensor_of(t.arena, {2, 3}, {1, 2, 3, 4, 5, 6}, GetParam().second);
};

TEST_P(Elementwise, FillsOnlyTheColumnsItIsGiven) {
  t.cx.backend.fill(wide.columns(1, 1), 9);
  EXPECT_THAT(values_of(wide), ElementsAre(1, 9, 3, 4, 9, 6));
}

TEST_P(Elementwise, AddsOnlyToTheColumnsItIsGiven) {
  t.cx.backend.add(wide.columns(0, 2), wide.columns(1, 2), 10);
  EXPECT_THAT(values_of(wide.columns(2, 1)), ElementsAre(3, 6));
  EXPECT_THAT(values_of(wide.columns(1, 1)), ElementsAre(32, 65));
}

TEST_P(Elementwise, CopiesBetweenElementTypesAndStrides) {
  for (const DType other : {DType::f64, DType::f32}) {
    const Tensor y = t.arena.allocate({2, 2}, other);
    t.cx.backend.copy(y, wide.columns(1, 2));
    EXPECT_THAT(values_of(y), ElementsAre(2, 3, 5, 6));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Elementwise,
                         testing::Values(std::pair{"reference", DType::f64}, std::pair{"reference", DType::f32},
                                         std::pair{"cpu", DType::f32}),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.first, info.param.second); });

}  // namespace
}  // namespace dragoman
