#include "ops/recurrent.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

OpCase mean_case(const std::vector<int32_t>& lengths, int64_t cols) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("mean of {} sentences, {} x {}", lengths.size(), spans.rows(), cols),
          {{"x", {spans.rows(), cols}}},
          [=](Context& cx, const OpInputs& in) { return running_average(cx, in.at("x"), Var(), spans); }};
}

OpCase gated_case(const std::vector<int32_t>& lengths, int64_t cols) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("{} sentences, {} x {}", lengths.size(), spans.rows(), cols),
          {{"x", {spans.rows(), cols}}, {"g", {spans.rows(), cols}}},
          [=](Context& cx, const OpInputs& in) { return running_average(cx, in.at("x"), in.at("g"), spans); }};
}

// x is also the gate, so it receives both gradients.
OpCase of_itself() {
  return {"gated by itself", {{"x", {7, 5}}}, [](Context& cx, const OpInputs& in) {
            return running_average(cx, in.at("x"), in.at("x"), Spans({0, 3, 7}));
          }};
}

INSTANTIATE_TEST_SUITE_P(RunningAverage, OpCheck,
                         testing::Values(gated_case({}, 3), gated_case({1}, 1), gated_case({3, 0, 1}, 17),
                                         gated_case({1, 16, 16}, 33), gated_case({500}, 3), of_itself(),
                                         mean_case({}, 5), mean_case({1}, 3), mean_case({3, 0, 1}, 17),
                                         mean_case({16, 1, 16}, 33), mean_case({500}, 2)),
                         name_of_case);

OpCase gate_case(int64_t rows, int64_t cols) {
  return {fmt::format("{} x {}", rows, cols),
          {{"x", {rows, cols}}, {"g", {rows, cols}}},
          [](Context& cx, const OpInputs& in) { return gate(cx, in.at("x"), in.at("g")); }};
}
OpCase gated_by_itself() {
  return {
      "of itself", {{"x", {3, 17}}}, [](Context& cx, const OpInputs& in) { return gate(cx, in.at("x"), in.at("x")); }};
}

INSTANTIATE_TEST_SUITE_P(Gate, OpCheck,
                         testing::Values(gate_case(0, 3), gate_case(1, 1), gate_case(17, 33), gate_case(33, 5),
                                         gated_by_itself()),
                         name_of_case);

// Two sentences, (2, 4, 9) and (5): means 2, 3, 5 and 5.
TEST(RunningAverage, WithoutAGateIsTheMeanOfTheSentenceSoFar) {
  ByHand t;
  const Var x = t.var({4, 1}, {2, 4, 9, 5});
  const Var c = running_average(t.cx, x, Var(), Spans({0, 3, 4}));
  EXPECT_THAT(values_of(c), ElementsAre(2, 3, 5, 5));
  // x_1 has weight 1, 1/2 and 1/3; x_2 1/2 and 1/3; x_3 1/3.
  t.backward(c, {6, 6, 6, 6});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(11, 5, 2, 6));
}

// A gate of 0 keeps half of the past: 8/2, 4/2 + 2/2, 3/2 + 7/2; a large gate keeps all, a very negative one nothing.
TEST(RunningAverage, KeepsAsMuchOfThePastAsItsGateSays) {
  ByHand t;
  const Spans three({0, 3});
  const auto average = [&](double gate) {
    return values_of(running_average(t.cx, t.var({3, 1}, {8, 2, 7}), t.var({3, 1}, {gate, gate, gate}), three));
  };
  EXPECT_THAT(average(0), ElementsAre(4, 3, 5));
  EXPECT_THAT(average(1000), ElementsAre(0, 0, 0));
  EXPECT_THAT(average(-1000), ElementsAre(8, 2, 7));
}

// Gates far from 0 must not overflow to NaN.
TEST(RunningAverage, HandlesGatesOfAnyMagnitude) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.var({2, 2}, {1, 2, 3, 4}), g = t.var({2, 2}, {-3e38, 3e38, -3e38, 3e38});
    expect_close(values_of(running_average(t.cx, x, g, Spans({0, 2}))), {1, 0, 3, 0}, 1e-6, "average");
    expect_close(values_of(gate(t.cx, x, g)), {0, 2, 0, 4}, 1e-6, "gated");
  });
}

// Rows of two hypotheses; at the second step the second one continues from the first one's past.
TEST(RunningAverageStep, ContinuesFromTheLastStateOfEachRow) {
  const auto check = [](const char* name, DType dtype) {
    ByHand t(name, dtype);
    const Tensor states = t.empty({5, 1});
    const auto step = [&](std::vector<double> x, std::vector<int32_t> lengths, std::vector<int32_t> table) {
      const int64_t T = int64_t(table.size()) / 2;
      const StepKeys past{.length = int_tensor(std::move(lengths), {2}), .table = int_tensor(std::move(table), {2, T})};
      return values_of(running_average_step(t.cx, t.constant({2, 1}, x), Var(), states, past));
    };
    expect_close(step({4, 8}, {1, 1}, {0, 1}), {4, 8}, 1e-6, name);
    expect_close(step({6, 10}, {2, 2}, {0, 2, 0, 3}), {5, 7}, 1e-6, name);
    expect_close(step({1, 0}, {3, 1}, {0, 3, 4, 1, 1, 1}), {5, 0}, 1e-6, name);
  };
  check("reference", DType::f64);
  for_each_target([&] { check("cpu", DType::f32); });
}

TEST(RunningAverageStep, EqualsTheFullPassRowByRow) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.random({9, 35}), g = t.random({9, 35}, 1);
    const auto full = values_of(running_average(t.cx, x, g, Spans({0, 9})));
    const Tensor states = t.empty({9, 35});
    const auto row = [&](const Var& all, int32_t n) {
      const auto values = values_of(all);
      return t.constant({1, 35}, {values.begin() + n * 35, values.begin() + (n + 1) * 35});
    };
    std::vector<int32_t> rows;
    for (int32_t n = 0; n < 9; ++n) {
      rows.push_back(n);
      const StepKeys past{.length = int_tensor({n + 1}, {1}), .table = int_tensor(rows, {1, n + 1})};
      const auto c = values_of(running_average_step(t.cx, row(x, n), row(g, n), states, past));
      EXPECT_EQ(c, std::vector<double>(full.begin() + n * 35, full.begin() + (n + 1) * 35)) << n;
    }
  });
}

TEST(Recurrent, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var x = t.random({3, 4}), y = t.random({2, 4});
  const auto names_both = AllOf(HasSubstr("(2,4)"), HasSubstr("(3,4)"));
  EXPECT_THAT(error_of([&] { running_average(t.cx, x, y, Spans({0, 3})); }), names_both);
  EXPECT_THAT(error_of([&] { gate(t.cx, x, y); }), names_both);
  EXPECT_THAT(error_of([&] {
                running_average(t.cx, x, Var(), Spans({0, 2}));
              }),
              AllOf(HasSubstr("(3,4)"), HasSubstr("2 rows")));
  EXPECT_THAT(error_of([&] {
                running_average_step(t.cx, x, Var(), t.empty({5, 3}), StepKeys{});
              }),
              AllOf(HasSubstr("(3,4)"), HasSubstr("(5,3)")));
}

}  // namespace
}  // namespace dragoman
