#include "optim/adam.h"

#include <cmath>
#include <limits>

#include "tests/optim/toy_parameters.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

class AdamOf : public testing::Test {
 protected:
  Adam make(OptimizerOptions options) { return Adam(t_.backend, t_.arena, t_.parameters, options); }
  std::vector<double> first_moments(const Adam& adam) { return t_.joined(adam.first_moments()); }

  ToyParameters t_;
  OptimizerOptions plain_{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0, .clip_norm = 0};
};

// Mean gradients are half of the sums. Update 1: the corrected moments are g and g², so each step is the rate against
// the sign of g, and a gradient of zero moves nothing. Update 2 of the first: m = 0.9·0.1·1 - 0.1·1 = -0.01, corrected
// by 1 - 0.9² = 0.19; v = 0.98·0.02 + 0.02 = 0.0396, corrected by 1 - 0.98² = 0.0396: 0.9 + 0.1·(0.01 / 0.19).
TEST_F(AdamOf, TakesTheFirstTwoStepsAsWorkedByHand) {
  Adam adam = make(plain_);
  t_.set({1, 1, 1});
  t_.gradients({2, -4, 0});
  EXPECT_DOUBLE_EQ(t_.step(adam, 0.1, 2), std::sqrt(1 + 4));
  EXPECT_THAT(t_.values(), near({0.9, 1.1, 1}));
  t_.gradients({-2, -4, 0});
  t_.step(adam, 0.1, 2);
  EXPECT_THAT(t_.values(), near({0.9 + 0.001 / 0.19, 1.2, 1}));
  EXPECT_EQ(adam.steps, 2);
}

// The whole gradient (3, 0 | 4) has norm 5; clipped to 1 it is (0.6, 0 | 0.8), of which m takes a tenth.
TEST_F(AdamOf, ClipsByTheNormOfAllParametersTogether) {
  plain_.clip_norm = 1;
  Adam adam = make(plain_);
  t_.gradients({6, 0, 8});
  EXPECT_DOUBLE_EQ(t_.step(adam, 0.1, 2), 5);
  EXPECT_THAT(first_moments(adam), near({0.06, 0, 0.08}));
}

TEST_F(AdamOf, DoesNotClipBelowTheLimitNorWithoutOne) {
  for (double limit : {0.0, 5.0, 7.0}) {
    plain_.clip_norm = limit;
    Adam adam = make(plain_);
    t_.gradients({3, 0, 4});
    t_.step(adam, 0.1, 1);
    EXPECT_THAT(first_moments(adam), near({0.3, 0, 0.4})) << limit;
  }
}

// Decoupled: not through the moments. 2 - 0.1·0.01·2.
TEST_F(AdamOf, DecouplesWeightDecayFromTheGradient) {
  plain_.weight_decay = 0.01;
  Adam adam = make(plain_);
  t_.set({2, -2, 0});
  t_.gradients({0, 0, 0});
  t_.step(adam, 0.1, 1);
  EXPECT_THAT(t_.values(), near({1.998, -1.998, 0}));
  EXPECT_THAT(first_moments(adam), near({0, 0, 0}));
}

TEST_F(AdamOf, ChangesNothingWhenTheGradientIsNotFinite) {
  Adam adam = make(plain_);
  t_.set({1, 2, 3});
  t_.gradients({1, 1, 1});
  t_.step(adam, 0.1, 1);
  const auto values = t_.values(), moments = first_moments(adam);
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    t_.gradients({1, 1, bad});
    EXPECT_FALSE(std::isfinite(t_.step(adam, 0.1, 1)));
    EXPECT_EQ(t_.values(), values);
    EXPECT_EQ(first_moments(adam), moments);
    EXPECT_EQ(adam.steps, 1);
  }
}

TEST_F(AdamOf, ChangesNothingWhenTheLossIsNotFinite) {
  Adam adam = make(plain_);
  t_.set({1, 2, 3});
  t_.gradients({1, 1, 1});
  for (double bad : {std::nan(""), -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isfinite(t_.step(adam, 0.1, 1, bad)));
    EXPECT_THAT(t_.values(), ElementsAre(1, 2, 3));
    EXPECT_THAT(first_moments(adam), ElementsAre(0, 0, 0));
    EXPECT_EQ(adam.steps, 0);
  }
}

TEST_F(AdamOf, TakesTheGradientOfAParameterThatNothingReachedForZero) {
  Adam adam = make(plain_);
  t_.gradients({1, 1, std::nan("")});
  t_.b.node()->written = false;
  EXPECT_DOUBLE_EQ(t_.step(adam, 0.1, 1), std::sqrt(2));
  EXPECT_THAT(first_moments(adam), near({0.1, 0.1, 0}));
}

TEST_F(AdamOf, LaysMomentsOutAsTheParameters) {
  t_.parameters.matrix({{"query", 1, Init::zeros()}, {"key", 2, Init::zeros()}}, 3);
  const Adam adam = make(plain_);
  const auto& named = t_.parameters.named();
  const Tensor query = t_.parameters.part_of(adam.first_moments(), named[2]),
               key = t_.parameters.part_of(adam.first_moments(), named[3]);
  EXPECT_EQ(key.shape(), (Shape{2, 3}));
  EXPECT_EQ(key.as<double>(), query.as<double>() + 3);
}

}  // namespace
}  // namespace dragoman
