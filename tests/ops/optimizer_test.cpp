#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

#include "backend/backend.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

Tensor number(const Context& cx, double value) {
  const Tensor x = cx.arena.allocate({1}, DType::f64);
  cx.backend.sum(Grad{x}, float_tensor({float(value)}, {1}));
  return x;
}

// Two updates of copies of the inputs, the second clipped to a tenth of its norm, then two that must not change
// anything. Returns the parameter and both moments, stacked.
Var adam_updates(Context& cx, const OpInputs& in) {
  const Tensor& p = in.at("p");
  const int64_t n = p.elements();
  const Var y = cx.make({3, n}, p.dtype(), {});
  const auto part = [&](int i) { return y.value().row_range(i, 1).reshaped({n}); };
  cx.backend.copy(part(0), p);
  cx.backend.fill(y.value().row_range(1, 2), 0);
  const std::array tensors{AdamTensor{part(0), in.at("g"), part(1), part(2)}};
  const AdamStep first{0.1, 0.9, 0.98, 1e-9, 0.01, 0.1, 0.02, 2, 30};
  cx.backend.adam(tensors, first, AdamTotals{number(cx, 1), number(cx, 100)});
  cx.backend.adam(tensors, AdamStep{0.1, 0.9, 0.98, 1e-9, 0.01, 0.19, 0.0396, 2, 0.5},
                  AdamTotals{number(cx, 1), number(cx, 100)});
  cx.backend.adam(tensors, first, AdamTotals{number(cx, std::nan("")), number(cx, 100)});
  cx.backend.adam(tensors, first, AdamTotals{number(cx, 1), number(cx, std::numeric_limits<double>::infinity())});
  return y;
}

OpCase adam_case(int64_t n) { return {fmt::format("{} parameters", n), {{"p", {n}}, {"g", {n}}}, adam_updates, 0}; }

OpCase average_case(int64_t n) {
  OpCase c{fmt::format("{} parameters", n), {{"average", {n}}, {"x", {n}}}};
  c.op = [](Context& cx, const OpInputs& in) {
    const Var y = cx.make(in.at("x").shape(), in.at("x").dtype(), {});
    cx.backend.copy(y, in.at("average"));
    cx.backend.moving_average(y, in.at("x"), 0.3);
    return y;
  };
  c.differences = 0;
  return c;
}

// More tensors of various sizes than a GPU takes in one launch.
OpCase sums_case(int64_t n) {
  OpCase c{fmt::format("{} numbers", n), {{"x", {n}}}};
  c.op = [](Context& cx, const OpInputs& in) {
    const Var y = cx.make({2}, DType::f64, {});
    const Tensor& x = in.at("x");
    std::vector<Tensor> tensors;
    for (int64_t from = 0, size = 0; from < x.elements(); from += size, ++size)
      tensors.push_back(x.row_range(from, std::min(size, x.elements() - from)));
    for (int64_t from = 0; from < std::min<int64_t>(2, x.elements()); ++from)  // a long one, also out of alignment
      tensors.push_back(x.row_range(from, x.elements() - from));
    const Tensor total = y.value().row_range(0, 1);
    cx.backend.sum(Grad{total}, x);
    cx.backend.sum(Grad{total, Accumulate::yes}, x);
    cx.backend.sum_of_squares(y.value().row_range(1, 1), tensors);
    return y;
  };
  c.differences = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Sums, OpCheck, testing::Values(sums_case(0), sums_case(17), sums_case(2500), sums_case(20000)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Adam, OpCheck, testing::Values(adam_case(0), adam_case(1), adam_case(17), adam_case(2500)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(MovingAverage, OpCheck, testing::Values(average_case(0), average_case(33), average_case(2500)),
                         name_of_case);

struct Optimizer : testing::TestWithParam<std::pair<const char*, DType>> {
  ByHand t{GetParam().first, GetParam().second};
  double sum(const Tensor& x) {
    const Tensor total = number(t.cx, 0);
    t.cx.backend.sum(Grad{total}, x);
    return total.send()();
  }
  double sum_of_squares(std::span<const Tensor> tensors) {
    const Tensor total = number(t.cx, 0);
    t.cx.backend.sum_of_squares(total, tensors);
    return total.send()();
  }
  Tensor vector(const std::vector<double>& values) {
    return tensor_of(t.arena, {int64_t(values.size())}, values, t.dtype);
  }
  /// The sum of 500 weights near 1 after some steps with random gradients.
  double sum_after(int steps, double rate, double weight_decay) {
    const size_t n = 500;
    std::vector<double> first = normals(n, 1);
    for (double& p : first) p = 1 + 0.1 * p;
    const Tensor p = vector(first), m = vector(std::vector<double>(n)), v = vector(std::vector<double>(n));
    for (int step = 1; step <= steps; ++step) {
      const Tensor g = vector(normals(n, uint64_t(1 + step)));
      const std::array tensors{AdamTensor{p, g, m, v}};
      t.cx.backend.adam(
          tensors, AdamStep{rate, 0.9, 0.98, 1e-9, weight_decay, 1 - std::pow(0.9, step), 1 - std::pow(0.98, step)},
          AdamTotals{number(t.cx, 1), number(t.cx, 1)});
    }
    return sum(p);
  }
};
const auto nearly = [](std::vector<double> y) { return Pointwise(DoubleNear(1e-6), y); };

// First update, gradient 4 over 4 target tokens: m = 0.1, v = 0.02, both 1 after bias correction. With ε = 1 the step
// is 1/2; decay adds 0.1 · 2: 2 - 0.1 · (0.5 + 0.2) = 1.93.
TEST_P(Optimizer, AdamTakesTheStepOfItsPaper) {
  const Tensor p = vector({2}), g = vector({4}), m = vector({0}), v = vector({0});
  const std::array tensors{AdamTensor{p, g, m, v}};
  t.cx.backend.adam(tensors, AdamStep{0.1, 0.9, 0.98, 1.0, 0.1, 0.1, 0.02, 4},
                    AdamTotals{number(t.cx, 1), number(t.cx, 16)});
  EXPECT_THAT(values_of(p), nearly({1.93}));
  EXPECT_THAT(values_of(m), nearly({0.1}));
  EXPECT_THAT(values_of(v), nearly({0.02}));
  EXPECT_THAT(values_of(g), ElementsAre(4));
}

// The nearest float to 1 - rate · decay is 1.
TEST_P(Optimizer, DecaysWeightsAlsoByLittle) {
  const double with = sum_after(300, 2e-4, 1e-4), without = sum_after(300, 2e-4, 0);
  EXPECT_NEAR((without - with) / without, 300 * 2e-4 * 1e-4, 0.1 * 300 * 2e-4 * 1e-4);
}

// Without ε the first step is the rate, whatever the size of the gradient (section 2.1 of the paper).
TEST_P(Optimizer, AdamIsInvariantToTheScaleOfGradients) {
  const Tensor p = vector({1, 1, 1}), g = vector({1e-3, -5, 700}), m = vector({0, 0, 0}), v = vector({0, 0, 0});
  const std::array tensors{AdamTensor{p, g, m, v}};
  t.cx.backend.adam(tensors, AdamStep{0.1, 0.9, 0.98, 0, 0, 0.1, 0.02}, AdamTotals{number(t.cx, 1), number(t.cx, 1)});
  EXPECT_THAT(values_of(p), nearly({0.9, 1.1, 0.9}));
}

TEST_P(Optimizer, MovingAverageGoesItsShareOfTheWay) {
  const Tensor average = vector({1, 4});
  t.cx.backend.moving_average(average, vector({3, 0}), 0.25);
  EXPECT_THAT(values_of(average), ElementsAre(1.5, 3));
}

TEST_P(Optimizer, SumsAreTakenInDouble) {
  const Tensor x = vector({3, -4, 1e8, -1e8, 0.5});
  EXPECT_EQ(sum(x), -0.5);
  const std::vector<Tensor> several{vector({3, -4}), vector({1e8}), vector({2})};
  EXPECT_EQ(sum_of_squares(several), 1e16 + 29);
  EXPECT_EQ(sum_of_squares({}), 0);
  EXPECT_EQ(sum(t.empty({0})), 0);
}

TEST_P(Optimizer, SumsDoNotDependOnThreads) {
  const Tensor x = vector(normals(10'000, 4));
  const Threads single(1);
  const double one = sum(x), squares = sum_of_squares(std::span(&x, 1));
  const Threads pair(2);
  EXPECT_EQ(sum(x), one);
  EXPECT_EQ(sum_of_squares(std::span(&x, 1)), squares);
}

INSTANTIATE_TEST_SUITE_P(Backends, Optimizer,
                         testing::Values(std::pair{"reference", DType::f64}, std::pair{"reference", DType::f32},
                                         std::pair{"cpu", DType::f32}),
                         [](const auto& info) { return fmt::format("{}_{}", info.param.first, info.param.second); });

}  // namespace
}  // namespace dragoman
