#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "backend/backend.h"
#include "ops/norm.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The harness runs in training mode, so statistics are those of the rows unless `fixed`.
OpCase batch_norm_case(int64_t rows, int64_t cols, bool fixed) {
  const auto call = [=](Context& cx, const OpInputs& in) {
    const DType stat = stat_type(in.at("x").dtype());
    const RunningStatistics running{cx.save({cols}, stat), cx.save({cols}, stat)};
    cx.backend.fill(running.mean, 0.5);
    cx.backend.fill(running.variance, 2);
    cx.training = !fixed;
    return batch_norm(cx, in.at("x"), in.at("gamma"), in.at("beta"), running);
  };
  return {fmt::format("{} x {}{}", rows, cols, fixed ? " running" : ""),
          {{"x", {rows, cols}}, {"gamma", {cols}}, {"beta", {cols}}},
          call};
}
INSTANTIATE_TEST_SUITE_P(BatchNorm, OpCheck,
                         testing::Values(batch_norm_case(0, 17, false), batch_norm_case(1, 3, false),
                                         batch_norm_case(3, 33, false), batch_norm_case(17, 5, false),
                                         batch_norm_case(35, 64, false), batch_norm_case(500, 130, false),
                                         batch_norm_case(0, 3, true), batch_norm_case(1, 17, true),
                                         batch_norm_case(33, 130, true)),
                         name_of_case);

struct BatchNorm : testing::Test {
  Var norm(const Var& x, double eps = 0) { return batch_norm(t.cx, x, gamma, beta, running, eps); }

  ByHand t;
  Var gamma = t.var({2}, {2, 3}), beta = t.var({2}, {10, 20});
  RunningStatistics running{t.constant({2}, {0, 5}), t.constant({2}, {1, 4})};
};

// Column (1, 3): mean 2, variance 1; with eps = 3 the divisor is 2. Column (6, 2): mean 4, variance 4, divisor 2.
TEST_F(BatchNorm, NormalisesColumnsByTheirMeanAndVariance) {
  const Var x = t.var({2, 2}, {1, 6, 3, 2});
  EXPECT_THAT(values_of(norm(x, 3)),
              ElementsAre(9, testing::DoubleEq(20 + 6 / std::sqrt(7)), 11, testing::DoubleEq(20 - 6 / std::sqrt(7))));
  EXPECT_THAT(values_of(norm(x)), ElementsAre(8, 23, 12, 17));
}

// The unbiased variances of the above are 2 and 8. A tenth of the way from 0 to 2, 5 to 4, 1 to 2 and 4 to 8.
TEST_F(BatchNorm, MovesRunningStatisticsATenthOfTheWay) {
  norm(t.var({2, 2}, {1, 6, 3, 2}));
  EXPECT_THAT(values_of(running.mean), ElementsAre(0.2, 4.9));
  EXPECT_THAT(values_of(running.variance), ElementsAre(1.1, 4.4));
}

TEST_F(BatchNorm, UsesRunningStatisticsOutsideTrainingAndLeavesThemAlone) {
  t.cx.training = false;
  EXPECT_THAT(values_of(norm(t.var({2, 2}, {1, 9, 3, 1}))), ElementsAre(12, 26, 16, 14));
  EXPECT_THAT(values_of(running.mean), ElementsAre(0, 5));
  EXPECT_THAT(values_of(running.variance), ElementsAre(1, 4));
}

TEST_F(BatchNorm, LeavesRunningStatisticsAloneWhereTheRowsHaveNone) {
  const double inf = std::numeric_limits<double>::infinity();
  norm(t.var({1, 2}, {7, 7}));
  norm(t.var({0, 2}, {}));
  norm(t.var({2, 2}, {1, inf, inf, 1}));
  EXPECT_THAT(values_of(running.mean), ElementsAre(0, 5));
  EXPECT_THAT(values_of(running.variance), ElementsAre(1, 4));
}

TEST_F(BatchNorm, RefusesShapesThatDoNotFitAndNamesThem) {
  const auto names_both = AllOf(HasSubstr("(2)"), HasSubstr("(3)"));
  EXPECT_THAT(error_of([&] { norm(t.random({4, 3})); }), names_both);
  const Var three = t.random({3});
  EXPECT_THAT(error_of([&] { batch_norm(t.cx, t.random({4, 3}), three, three, running); }), names_both);
  EXPECT_THAT(error_of([&] {
                batch_norm(t.cx, t.random({4, 3}), three, Var(), running);
              }),
              HasSubstr("beta is missing"));
}

// Each thread handles whole columns, so no column's sum is split.
TEST(BatchNormOnManyThreads, GivesTheSameBits) {
  const auto once = [](int threads) {
    const Threads count(threads);
    ByHand t("cpu", DType::f32);
    const Var x = t.random({77, 200}), gamma = t.random({200}, 1), beta = t.random({200}, 2);
    const RunningStatistics running{t.random({200}, 3).value(), t.constant({200}, std::vector<double>(200, 1))};
    const Var y = batch_norm(t.cx, x, gamma, beta, running);
    t.backward(y, normals(77 * 200, 4));
    return std::vector{values_of(y), values_of(running.mean), values_of(running.variance),
                       values_of(x.node()->gradient), values_of(gamma.node()->gradient)};
  };
  const auto one = once(1);
  for (int threads : {2, 3, 4}) EXPECT_EQ(once(threads), one) << threads;
}

}  // namespace
}  // namespace dragoman
