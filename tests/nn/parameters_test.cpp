#include "nn/parameters.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "backend/registry.h"

namespace dragoman {
namespace {

struct Made {
  explicit Made(bool gradients = true)
      : parameters(gradients ? Parameters(backend("reference"), arena, DType::f64, Parameters::Flat{1 << 18})
                             : Parameters(backend("reference"), arena, DType::f64)) {}
  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Parameters parameters;
};

std::vector<double> values_of(const Tensor& x) { return {x.as<double>(), x.as<double>() + x.elements()}; }

const Parameters::Named& named(const Parameters& parameters, const std::string& name) {
  return *std::ranges::find(parameters.named(), name, &Parameters::Named::name);
}

TEST(Parameters, PartsAreViewsOfOneBuffer) {
  Made m;
  const Var qkv = m.parameters.matrix({{"query", 2, {}}, {"key", 3, {}}}, 4);
  const Var bias = m.parameters.vector({{"query.bias", 2, {}}, {"key.bias", 3, {}}});
  EXPECT_EQ(qkv.shape(), (Shape{5, 4}));
  EXPECT_EQ(bias.shape(), (Shape{5}));
  const auto &key = named(m.parameters, "key"), &key_bias = named(m.parameters, "key.bias");
  EXPECT_EQ(key.value.shape(), (Shape{3, 4}));
  EXPECT_EQ(key.value.as<double>(), qkv.value().as<double>() + 8);
  EXPECT_EQ(key.gradient.as<double>(), qkv.node()->gradient.as<double>() + 8);
  EXPECT_EQ(key_bias.value.shape(), (Shape{3}));
  EXPECT_EQ(key_bias.value.as<double>(), bias.value().as<double>() + 2);
  EXPECT_EQ(m.parameters.buffers().size(), 2u);
  EXPECT_EQ(m.parameters.count(), 25);
}

TEST(Parameters, StatisticsAreStoredButNeitherCountedNorLearned) {
  Made m;
  m.parameters.vector({{"weight", 2, {}}});
  const Tensor running = m.parameters.statistic({"running_variance", 3, Init::ones()});
  m.parameters.initialise(1);
  EXPECT_THAT(values_of(running), testing::ElementsAre(1, 1, 1));
  EXPECT_EQ(m.parameters.count(), 2);
  const auto& stored = named(m.parameters, "running_variance");
  EXPECT_EQ(stored.value.as<double>(), running.as<double>());
  EXPECT_FALSE(stored.gradient);
  EXPECT_FALSE(stored.trained);
  EXPECT_TRUE(m.parameters.pack().empty());
}

TEST(Parameters, SlicesLieAlikeInTensorsShapedLikeTheBuffer) {
  Made m;
  const Var qkv = m.parameters.matrix({{"query", 2, {}}, {"key", 3, {}}}, 4);
  const Tensor moment = m.arena.allocate(qkv.shape(), DType::f64);
  const Tensor part = named(m.parameters, "key").slice_of(moment);
  EXPECT_EQ(part.shape(), (Shape{3, 4}));
  EXPECT_EQ(part.as<double>(), moment.as<double>() + 8);
}

TEST(Parameters, KeepNoGradientsWhereNoneAreWanted) {
  Made m(false);
  EXPECT_EQ(m.parameters.vector({{"a", 2, {}}}).node(), nullptr);
  EXPECT_FALSE(named(m.parameters, "a").gradient);
  EXPECT_EQ(m.arena.in_use(), 64);  // bytes: one block
}

TEST(Parameters, BeginWithValuesOfSeedAndNameAlone) {
  const Init init = Init::glorot(8, 8);
  Made alone, among_others, other_seed;
  alone.parameters.matrix({{"w", 8, init}}, 8);
  among_others.parameters.matrix({{"v", 8, init}, {"w", 8, init}}, 8);
  other_seed.parameters.matrix({{"w", 8, init}}, 8);
  alone.parameters.initialise(1);
  among_others.parameters.initialise(1);
  other_seed.parameters.initialise(2);
  const auto w = values_of(named(alone.parameters, "w").value);
  EXPECT_EQ(values_of(named(among_others.parameters, "w").value), w);
  EXPECT_NE(values_of(named(among_others.parameters, "v").value), w);
  EXPECT_NE(values_of(named(other_seed.parameters, "w").value), w);
}

// Uniform in ±√(6 / (100 + 50)) = ±0.2: deviation 0.2 / √3. Of 5,000 draws the largest is within 1 % of the limit, and
// the mean within four of its own deviations of zero.
TEST(Parameters, OfGlorotFillTheirInterval) {
  Made m;
  m.parameters.matrix({{"w", 100, Init::glorot(100, 50)}, {"half", 100, Init::glorot(100, 50, 0.5)}}, 50);
  m.parameters.initialise(7);
  for (auto [name, limit] : {std::pair{"w", 0.2}, std::pair{"half", 0.1}}) {
    const auto values = values_of(named(m.parameters, name).value);
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GT(least, -limit);
    EXPECT_LT(most, limit);
    EXPECT_LT(least, -0.99 * limit);
    EXPECT_GT(most, 0.99 * limit);
    double sum = 0;
    for (double v : values) sum += v;
    EXPECT_LT(std::abs(sum / 5000), 4 * limit / std::sqrt(3.0 * 5000));
  }
}

TEST(Parameters, OfTheNormalDistributionHaveItsDeviation) {
  Made m;
  m.parameters.matrix({{"w", 100, {Init::normal, 0.5}}}, 50);
  m.parameters.initialise(7);
  double squares = 0;
  for (double v : values_of(named(m.parameters, "w").value)) squares += v * v;
  EXPECT_NEAR(squares / 5000, 0.25, 4 * 0.25 * std::sqrt(2.0 / 5000));
}

TEST(Parameters, OfConstantsAreThose) {
  Made m;
  m.parameters.vector({{"gain", 2, Init::ones()}, {"bias", 1, Init::zeros()}});
  m.parameters.initialise(7);
  EXPECT_THAT(values_of(m.parameters.buffers()[0]), testing::ElementsAre(1, 1, 0));
}

TEST(Parameters, ArePackedByTheAddressOfEachMatrix) {
  Made m;
  const Var w = m.parameters.matrix({{"w", 3, Init::ones()}}, 5);
  m.parameters.vector({{"b", 3, {}}});
  m.parameters.initialise(1);
  const PackedWeights packed = m.parameters.pack();
  ASSERT_EQ(packed.size(), 1u);
  EXPECT_EQ(packed.begin()->first, w.value().data());
}

TEST(Parameters, ForgetGradientsSoThatTheNextOverwrites) {
  Made m;
  const Var w = m.parameters.vector({{"w", 3, {}}});
  w.node()->written = true;
  m.parameters.forget_gradients();
  EXPECT_FALSE(w.node()->written);
}

}  // namespace
}  // namespace dragoman
