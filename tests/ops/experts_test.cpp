#include "ops/experts.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

OpCase route_case(int64_t rows, int64_t experts, int k) {
  return {fmt::format("{} rows, {} of {}", rows, k, experts),
          {{"z", {rows, experts}}},
          [=](Context& cx, const OpInputs& in) { return route(cx, in.at("z"), k, 0).gates; }};
}

INSTANTIATE_TEST_SUITE_P(Route, OpCheck,
                         testing::Values(route_case(0, 3, 2), route_case(1, 1, 1), route_case(17, 4, 1),
                                         route_case(33, 5, 2), route_case(3, 17, 3), route_case(3, 3, 3)),
                         name_of_case);

std::vector<int32_t> ints_of(const Tensor& x) { return {x.as<int32_t>(), x.as<int32_t>() + x.elements()}; }

TEST(Route, TakesTheBestExpertsAndSharesOneAmongThem) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var z = t.var({2, 3}, {0, float(std::log(3.0)), -9, 5, 2, 5});
    const Routes two = route(t.cx, z, 2, 0);
    EXPECT_THAT(ints_of(two.experts), ElementsAre(1, 0, 0, 2)) << name;  // ties to the lower number
    EXPECT_THAT(values_of(two.gates), Pointwise(DoubleNear(1e-6), {0.75, 0.25, 0.5, 0.5})) << name;
  }
}

// The exponentials are 1, 3 and 4: the best expert has half of the sum.
TEST(Route, GivesOneExpertItsShareOfAll) {
  ByHand t;
  const Routes one = route(t.cx, t.var({1, 3}, {0, std::log(3.0), std::log(4.0)}), 1, 0);
  EXPECT_THAT(ints_of(one.experts), ElementsAre(2));
  EXPECT_THAT(values_of(one.gates), Pointwise(DoubleNear(1e-14), {0.5}));
}

TEST(Route, NamesExpertsThatExistWhateverTheLogits) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  ByHand t;
  const Routes routes = route(t.cx, t.var({3, 3}, {nan, nan, nan, nan, 1, 2, -inf, -inf, -inf}), 2, 0);
  for (int64_t n = 0; n < 3; ++n) {
    const auto of = routes.experts.view<int32_t>();
    EXPECT_TRUE(of(n, 0) >= 0 && of(n, 0) < 3 && of(n, 1) >= 0 && of(n, 1) < 3 && of(n, 0) != of(n, 1)) << n;
  }
}

// Fedus et al. 2021, eq. 4 to 6: weight · E · Σ_e f_e · Σ_n p_ne with the counted f.
double load_loss(const std::vector<double>& z, int64_t E, const std::vector<double>& f, double weight,
                 const std::vector<double>& of_rows = {}) {
  double loss = 0;
  for (size_t row = 0; row < z.size(); row += size_t(E)) {
    double sum = 0;
    for (int64_t e = 0; e < E; ++e) sum += std::exp(z[row + size_t(e)]);
    for (int64_t e = 0; e < E; ++e)
      loss += (of_rows.empty() ? 1 : of_rows[row / size_t(E)]) * weight * double(E) * f[size_t(e)] *
              std::exp(z[row + size_t(e)]) / sum;
  }
  return loss;
}

TEST(Route, HasTheGradientOfTheLoadLoss) {
  const std::vector<double> z = {0.1, 0.9, -0.4, 1.2, 0.3, 0.2, -0.5, 0.6, 0.4};
  const std::vector<double> f = {2 / 6.0, 3 / 6.0, 1 / 6.0};  // pairs (1,0), (0,1), (1,2)
  ByHand t;
  const Var logits = t.var({3, 3}, z);
  const Routes routes = route(t.cx, logits, 2, 0.5);
  EXPECT_THAT(ints_of(routes.experts), ElementsAre(1, 0, 0, 1, 1, 2));
  t.backward(routes.gates, std::vector<double>(6, 0.0));
  const auto actual = values_of(logits.node()->gradient);
  for (size_t i = 0; i < z.size(); ++i) {
    std::vector<double> more = z, less = z;
    more[i] += 1e-5, less[i] -= 1e-5;
    const double slope = (load_loss(more, 3, f, 0.5) - load_loss(less, 3, f, 0.5)) / 2e-5;
    EXPECT_NEAR(actual[i], slope, 1e-7) << i;
  }
}

// Three rows of weights 2, 0 and 1/2 with the same experts as above: 5 in all, the second row counts nowhere.
TEST(Route, WeightsTheLoadLossOfEachRow) {
  const std::vector<double> z = {0.1, 0.9, -0.4, 1.2, 0.3, 0.2, -0.5, 0.6, 0.4}, rows = {2, 0, 0.5};
  const std::vector<double> f = {2 / 5.0, 2.5 / 5, 0.5 / 5};
  ByHand t;
  const Var logits = t.var({3, 3}, z);
  const Routes routes = route(t.cx, logits, 2, 0.5, float_tensor({2, 0, 0.5}, {3}));
  t.backward(routes.gates, std::vector<double>(6, 0.0));
  const auto actual = values_of(logits.node()->gradient);
  for (size_t i = 0; i < z.size(); ++i) {
    std::vector<double> more = z, less = z;
    more[i] += 1e-5, less[i] -= 1e-5;
    const double slope = (load_loss(more, 3, f, 0.5, rows) - load_loss(less, 3, f, 0.5, rows)) / 2e-5;
    EXPECT_NEAR(actual[i], slope, 1e-7) << i;
  }
}

TEST(Route, RefusesMoreExpertsThanThereAre) {
  ByHand t;
  EXPECT_THAT(error_of([&] { route(t.cx, t.random({2, 3}), 4, 0); }), AllOf(HasSubstr("(2,3)"), HasSubstr("4")));
}

// Three rows with two experts each, of three experts.
const Tensor chosen = int_tensor({1, 0, 1, 2, 0, 1}, {3, 2});

TEST(Dispatch, PutsTheRowsOfAnExpertTogether) {
  const Dispatch d = dispatch(chosen, 3, 100);
  EXPECT_THAT(ints_of(d.spans.offsets()), ElementsAre(0, 2, 5, 6));
  EXPECT_THAT(ints_of(d.rows), ElementsAre(2, 0, 0, 1, 2, 1));  // first choices before second ones
  EXPECT_THAT(ints_of(d.copies), ElementsAre(2, 1, 3, 5, 0, 4));
}

TEST(Dispatch, LeavesOutRowsBeyondTheCapacitySecondChoicesFirst) {
  const Dispatch two = dispatch(chosen, 3, 2);
  EXPECT_THAT(ints_of(two.spans.offsets()), ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(ints_of(two.copies), ElementsAre(2, 1, 3, 4, 0, -1));
  const Dispatch one = dispatch(chosen, 3, 1);
  EXPECT_THAT(ints_of(one.rows), ElementsAre(2, 0, 1));
  EXPECT_THAT(ints_of(one.copies), ElementsAre(1, -1, -1, 2, 0, -1));
}

}  // namespace
}  // namespace dragoman
