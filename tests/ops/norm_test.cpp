#include "ops/norm.h"

#include <gmock/gmock.h>

#include "ops/dropout.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

OpCase norm_case(int64_t rows, int64_t cols) {
  return {fmt::format("{} x {}", rows, cols),
          {{"x", {rows, cols}}, {"gamma", {cols}}, {"beta", {cols}}},
          [](Context& cx, const OpInputs& in) { return layer_norm(cx, in.at("x"), in.at("gamma"), in.at("beta")); }};
}

OpCase rms_norm_case(int64_t rows, int64_t cols) {
  return {fmt::format("rms {} x {}", rows, cols),
          {{"x", {rows, cols}}, {"gamma", {cols}}},
          [](Context& cx, const OpInputs& in) { return layer_norm(cx, in.at("x"), in.at("gamma"), Var()); }};
}

OpCase residual_rms_norm_case(int64_t rows, int64_t cols) {
  return {fmt::format("rms of a sum {} x {}", rows, cols),
          {{"x", {rows, cols}}, {"r", {rows, cols}}, {"gamma", {cols}}},
          [](Context& cx, const OpInputs& in) {
            return residual_norm(cx, in.at("x"), in.at("r"), in.at("gamma"), Var(), {});
          }};
}
INSTANTIATE_TEST_SUITE_P(RmsNorm, OpCheck,
                         testing::Values(rms_norm_case(0, 3), rms_norm_case(1, 1), rms_norm_case(17, 33),
                                         residual_rms_norm_case(3, 17), residual_rms_norm_case(33, 130)),
                         name_of_case);

// The mean square of (3, 4, 5, 0) is 12.5; the second row is twice the first and has four times that.
TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.constant({2, 4}, {3, 4, 5, 0, 6, 8, 10, 0}), gamma = t.constant({4}, {1, 2, 1, 1});
    const double root = std::sqrt(12.5);
    const std::vector<double> row{3 / root, 8 / root, 5 / root, 0};
    std::vector<double> both = row;
    both.insert(both.end(), row.begin(), row.end());
    expect_close(values_of(layer_norm(t.cx, x, gamma, Var(), 0)), both, 1e-6, name);
  }
}

OpCase head_norm_case(int64_t rows, int heads, int64_t cols, bool shifted) {
  const auto call = [=](Context& cx, const OpInputs& in) {
    return head_norm(cx, in.at("x"), in.at("gamma"), shifted ? in.at("beta") : Var(), heads);
  };
  std::vector<OpInput> inputs{{"x", {rows, heads * cols}}, {"gamma", {cols}}};
  if (shifted) inputs.push_back({"beta", {cols}});
  return {fmt::format("{} x {} heads of {}{}", rows, heads, cols, shifted ? "" : " rms"), inputs, call};
}
INSTANTIATE_TEST_SUITE_P(HeadNorm, OpCheck,
                         testing::Values(head_norm_case(0, 2, 3, true), head_norm_case(3, 1, 17, true),
                                         head_norm_case(5, 3, 7, true), head_norm_case(33, 4, 32, true),
                                         head_norm_case(17, 2, 5, false)),
                         name_of_case);

// x = (1, 3 | 5, 1 | 2, 2), heads of size two: means 2, 3 and 2, deviations 1, 2 and 0.
TEST(HeadNorm, NormalisesEachHeadByItself) {
  ByHand t;
  const Var x = t.var({1, 6}, {1, 3, 5, 1, 2, 2}), gamma = t.var({2}, {2, 3}), beta = t.var({2}, {10, 20});
  EXPECT_THAT(values_of(head_norm(t.cx, x, gamma, beta, 3, 1e-30)), ElementsAre(8, 23, 12, 17, 10, 20));
}

TEST(HeadNorm, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  EXPECT_THAT(error_of([&] {
                head_norm(t.cx, t.random({3, 8}), t.random({3}), Var(), 2);
              }),
              AllOf(HasSubstr("(3,8)"), HasSubstr("(3)"), HasSubstr("H = 2")));
}

OpCase residual_norm_case(int64_t rows, int64_t cols, double rate) {
  return {fmt::format("{} x {} dropout {}", rows, cols, rate),
          {{"x", {rows, cols}}, {"r", {rows, cols}}, {"gamma", {cols}}, {"beta", {cols}}},
          [=](Context& cx, const OpInputs& in) {
            const Dropout drop = cx.dropout(rate, positions_of(Spans({0, int32_t(rows)})));
            return residual_norm(cx, in.at("x"), in.at("r"), in.at("gamma"), in.at("beta"), drop);
          }};
}

INSTANTIATE_TEST_SUITE_P(LayerNorm, OpCheck,
                         testing::Values(norm_case(0, 17), norm_case(1, 33), norm_case(3, 17), norm_case(17, 3),
                                         norm_case(33, 5), norm_case(35, 64), norm_case(2, 500)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(ResidualNorm, OpCheck,
                         testing::Values(residual_norm_case(0, 5, 0.1), residual_norm_case(3, 17, 0),
                                         residual_norm_case(3, 17, 0.3), residual_norm_case(33, 33, 0.5),
                                         residual_norm_case(2, 300, 0.1), residual_norm_case(33, 260, 0.3),
                                         residual_norm_case(2300, 4, 0.1), residual_norm_case(2, 8196, 0.1)),
                         name_of_case);

// x = (1, 3): mean 2, variance 1. With eps = 3 the divisor is √4.
TEST(LayerNorm, SubtractsTheMeanAndDividesByTheDeviation) {
  ByHand t;
  const Var x = t.var({1, 2}, {1, 3}), gamma = t.var({2}, {2, 3}), beta = t.var({2}, {10, 20});
  EXPECT_THAT(values_of(layer_norm(t.cx, x, gamma, beta, 0)), ElementsAre(8, 23));
  EXPECT_THAT(values_of(layer_norm(t.cx, x, gamma, beta, 3)), ElementsAre(9, 21.5));
}

TEST(LayerNorm, IsInvariantToShiftAndScaleOfItsInput) {
  ByHand t;
  const Var x = t.random({3, 17}), gamma = t.random({17}, 1), beta = t.random({17}, 2);
  std::vector<double> moved = values_of(x);
  for (double& v : moved) v = 5 * v + 100;
  expect_close(values_of(layer_norm(t.cx, t.var({3, 17}, moved), gamma, beta, 0)),
               values_of(layer_norm(t.cx, x, gamma, beta, 0)), 1e-12, "moved rows");
}

TEST(LayerNorm, GivesBetaForARowOfOneValue) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.constant({2, 3}, std::vector<double>(6, 2.0)), gamma = t.random({3}), beta = t.var({3}, {1, 2, 3});
    EXPECT_THAT(values_of(layer_norm(t.cx, x, gamma, beta)), ElementsAre(1, 2, 3, 1, 2, 3));
  });
}

// Far from zero, E[x²] - E[x]² would have no correct digits in f32.
TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var x = t.constant({1, 4}, {10000, 10002, 10000, 10002}), gamma = t.var({4}, {1, 1, 1, 1}),
              beta = t.var({4}, {0, 0, 0, 0});
    expect_close(values_of(layer_norm(t.cx, x, gamma, beta, 0)), {-1, 1, -1, 1}, 1e-6, "y");
  });
}

TEST(ResidualNorm, EqualsItsComposedForm) {
  ByHand t;
  const Var x = t.random({6, 130}), r = t.random({6, 130}, 1), gamma = t.random({130}, 2), beta = t.random({130}, 3);
  const Dropout drop = t.cx.dropout(0.4, positions_of(Spans({0, 2, 6})));
  EXPECT_EQ(values_of(residual_norm(t.cx, x, r, gamma, beta, drop)),
            values_of(layer_norm(t.cx, residual(t.cx, x, r, drop), gamma, beta)));
}

TEST(LayerNorm, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var x = t.random({3, 4}), four = t.random({4}), five = t.random({5});
  const auto names_both = AllOf(HasSubstr("(5)"), HasSubstr("(4)"));
  EXPECT_THAT(error_of([&] { layer_norm(t.cx, x, five, four); }), names_both);
  EXPECT_THAT(error_of([&] { layer_norm(t.cx, x, four, five); }), names_both);
  EXPECT_THAT(error_of([&] { residual_norm(t.cx, x, x, five, four, {}); }), names_both);
  EXPECT_THAT(error_of([&] {
                residual_norm(t.cx, x, t.random({2, 4}), four, four, {});
              }),
              AllOf(HasSubstr("(2,4)"), HasSubstr("(3,4)")));
}

}  // namespace
}  // namespace dragoman
