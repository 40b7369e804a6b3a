#include "nn/layers.h"

#include <gmock/gmock.h>

#include <cmath>

#include "backend/registry.h"
#include "nn/cross_attention.h"
#include "nn/self_attention.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

struct Layers : testing::Test {
  Tensor matrix(Shape shape, const std::vector<double>& values) {
    const Tensor x = arena.allocate(shape, DType::f64);
    std::copy(values.begin(), values.end(), x.as<double>());
    return x;
  }
  void set(const std::string& name, const std::vector<double>& values) {
    for (const auto& p : parameters.named())
      if (p.name == name) return void(std::copy(values.begin(), values.end(), p.value.as<double>()));
    FAIL() << "no parameter " << name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& p : parameters.named()) all.push_back(fmt::format("{} {}", p.name, p.value.shape()));
    return all;
  }
  static std::vector<double> values(const Tensor& x) { return {x.as<double>(), x.as<double>() + x.elements()}; }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Parameters parameters{backend("reference"), arena, DType::f64};
  Context cx{.backend = backend("reference"), .arena = arena};
};

TEST_F(Layers, LinearPutsSeveralOutputsSideBySide) {
  const Linear both = Linear::make(parameters, {"first", "second"}, {1, 2}, 2);
  EXPECT_THAT(names(), ElementsAre("first.weight (1,2)", "second.weight (2,2)", "first.bias (1)", "second.bias (2)"));
  parameters.initialise(1);
  set("first.weight", {1, 2});
  set("second.weight", {3, 4, -5, 6});
  set("second.bias", {10, 20});
  // (1, 2): 1·1 + 2·2 = 5, 3·1 + 4·2 + 10 = 21, -5·1 + 6·2 + 20 = 27.
  EXPECT_THAT(values(both(cx, Var(matrix({1, 2}, {1, 2})))), ElementsAre(5, 21, 27));
}

struct LoraLayers : Layers {
  LoraLayers() : tuned(backend("reference"), arena, DType::f64, {.frozen = {"*.value.*", "up.*"}, .lora_rank = 1}) {}

  std::vector<std::string> trained() const {
    std::vector<std::string> all;
    for (const auto& p : tuned.named())
      if (!p.frozen) all.push_back(fmt::format("{} {} of {}", p.name, p.value.shape(), p.updated));
    return all;
  }
  const Parameters::Named& named(const std::string& name) const {
    return *std::ranges::find(tuned.named(), name, &Parameters::Named::name);
  }

  Parameters tuned;
};

TEST_F(LoraLayers, HaveAnUpdateForEachProductUnlessAllOfItIsFrozen) {
  Linear::make(tuned, {"a.query", "a.value"}, {1, 2}, 3);
  const Linear down = Linear::make(tuned, {"down"}, {2}, 2), up = Linear::make(tuned, {"up"}, {2}, 2);
  EXPECT_THAT(trained(), ElementsAre("a.lora_down (1,3) of a.weight", "a.query.lora_up (1,1) of a.query.weight",
                                     "a.value.lora_up (2,1) of a.value.weight", "down.lora_down (1,2) of down.weight",
                                     "down.lora_up (2,1) of down.weight"));
  EXPECT_TRUE(down.update);
  EXPECT_FALSE(up.update);
  EXPECT_EQ(tuned.count(), 9 + 3 + 4 + 2 + 4 + 2) << "without updates";
}

TEST_F(LoraLayers, BeginAsTheyWereAndComputeWithTheMergedWeightThen) {
  const Linear layer = Linear::make(tuned, {"q", "k"}, {2, 3}, 4);
  tuned.initialise(1);
  const Var x(matrix({2, 4}, {1, -2, 0.5, 3, 0, 1, 2, -1}));
  const std::vector<double> before = values(layer(cx, x));
  EXPECT_EQ(before, values(Linear{layer.weight, layer.bias}(cx, x)));
  double i = 0.1;
  for (const char* up : {"q.lora_up", "k.lora_up"})
    for (double& u : std::span(named(up).value.as<double>(), size_t(named(up).value.elements()))) u = i += 0.3;
  const std::vector<double> after = values(layer(cx, x)),
                            merged = values(Linear{Var(tuned.merged(0)), layer.bias}(cx, x));
  ASSERT_EQ(after.size(), merged.size());
  for (size_t n = 0; n < after.size(); ++n) {
    EXPECT_NEAR(after[n], merged[n], 1e-12);
    EXPECT_GT(std::abs(after[n] - before[n]), 1e-3);
  }
  const Tensor bias = tuned.merged(layer.bias.value().data() == tuned.buffers()[3].value().data() ? 3 : 99);
  EXPECT_EQ(bias.data(), layer.bias.value().data());
}

TEST_F(Layers, NormBeginsAsPlainNormalisation) {
  const Norm norm = Norm::make(parameters, "norm", 2);
  EXPECT_THAT(names(), ElementsAre("norm.weight (2)", "norm.bias (2)"));
  parameters.initialise(1);
  EXPECT_THAT(values(norm(cx, Var(matrix({1, 2}, {1, 5})))),
              testing::Pointwise(testing::DoubleNear(1e-5), std::vector<double>{-1, 1}));
}

// Variance 1 and an epsilon of 3: divided by √4.
TEST_F(Layers, NormAddsItsEpsilonToTheVariance) {
  const Norm norm = Norm::make(parameters, "n", 2, NormKind::layer, 3);
  parameters.initialise(1);
  EXPECT_THAT(values(norm(cx, Var(matrix({1, 2}, {1, -1})))), ElementsAre(0.5, -0.5));
}

// up: (2·3, -1·3) = (6, -3), relu: (6, 0), down: 6 + 0 + 0.5.
TEST_F(Layers, FeedForwardIsDownOfActivatedUp) {
  const FeedForward f{Linear::make(parameters, {"up"}, {2}, 1), Linear::make(parameters, {"down"}, {1}, 2),
                      Activation::relu};
  parameters.initialise(1);
  set("up.weight", {2, -1});
  set("down.weight", {1, 1});
  set("down.bias", {0.5});
  EXPECT_THAT(values(f(cx, Var(matrix({1, 1}, {3})), Tensor())), ElementsAre(6.5));
}

// A token that sees only itself gets its own value, whatever the queries and keys are.
TEST_F(Layers, SelfAttentionOfOneTokenIsItsValue) {
  const SelfAttention a = SelfAttention::make(parameters, "a", 2, {.sizes = {1, 2, 2}});
  EXPECT_THAT(names(),
              ElementsAre("a.query.weight (2,2)", "a.key.weight (2,2)", "a.value.weight (2,2)", "a.query.bias (2)",
                          "a.key.bias (2)", "a.value.bias (2)", "a.output.weight (2,2)", "a.output.bias (2)"));
  parameters.initialise(1);
  set("a.value.weight", {2, 0, 0, 3});
  set("a.output.weight", {1, 0, 0, 1});
  set("a.output.bias", {100, 200});
  const Spans single = Spans::of_lengths(std::vector<int32_t>{1});
  EXPECT_THAT(values(a(cx, Var(matrix({1, 2}, {5, 7})), {single, {}, {}, {}}, false)), ElementsAre(110, 221));
}

// With queries of zero all keys weigh the same: the mean of the values of the two memory rows.
TEST_F(Layers, CrossAttentionWithoutAQueryIsTheMeanOfValues) {
  const CrossAttention a = CrossAttention::make(parameters, "a", 2, {.sizes = {2, 1, 1}});
  EXPECT_THAT(names(),
              ElementsAre("a.query.weight (2,2)", "a.query.bias (2)", "a.key.weight (2,2)", "a.value.weight (2,2)",
                          "a.key.bias (2)", "a.value.bias (2)", "a.output.weight (2,2)", "a.output.bias (2)"));
  parameters.initialise(1);
  set("a.query.weight", {0, 0, 0, 0});
  set("a.value.weight", {1, 0, 0, 1});
  set("a.output.weight", {1, 0, 0, 1});
  const Var x(matrix({1, 2}, {9, 9})), memory(matrix({2, 2}, {1, 10, 3, 30}));
  const Spans one = Spans::of_lengths(std::vector<int32_t>{1}), two = Spans::of_lengths(std::vector<int32_t>{2});
  EXPECT_THAT(values(a(cx, {.x = x, .spans = one, .positions = {}}, a.keys_and_values(cx, memory, two, {}))),
              ElementsAre(2, 20));
}

// One vector in three roles.
TEST_F(Layers, SelfAttentionWithoutProjectionsWeighsTheVectorsThemselves) {
  const SelfAttention a = SelfAttention::make(
      parameters, "a", 1, {.sizes = {1, 1, 1}, .score = AttentionScore::dot, .projections = Projections::none});
  EXPECT_THAT(names(), ElementsAre("a.output.weight (1,1)", "a.output.bias (1)"));
  parameters.initialise(1);
  set("a.output.weight", {1});
  const double x = std::sqrt(std::log(3.0));  // x·x = ln 3: the second row weighs itself with 3/4, the first with 1/4
  const Spans two = Spans::of_lengths(std::vector<int32_t>{2});
  EXPECT_THAT(values(a(cx, Var(matrix({2, 1}, {0, x})), {two, {}, {}, {}}, false)),
              testing::Pointwise(testing::DoubleNear(1e-12), std::vector<double>{x / 2, x * 3 / 4}));
}

TEST_F(Layers, AttentionNamesTheProjectionsThatItHas) {
  const auto made = [&](const std::string& name, AttentionScore score, Projections projections) {
    const size_t before = names().size();
    CrossAttention::make(parameters, name, 4,
                         {.sizes = {2, 2, 2}, .score = score, .projections = projections, .locations = 3});
    std::vector<std::string> all = names(), weights;
    for (size_t i = before; i < all.size(); ++i)
      if (all[i].find("weight") != all[i].npos) weights.push_back(all[i]);
    return weights;
  };
  using enum AttentionScore;
  EXPECT_THAT(made("a", scaled_dot, Projections::key_value),
              ElementsAre("a.query.weight (4,4)", "a.key_value.weight (4,4)", "a.output.weight (4,4)"));
  EXPECT_THAT(made("b", bilinear, Projections::none), ElementsAre("b.query.weight (4,4)", "b.output.weight (4,4)"));
  EXPECT_THAT(made("c", reduced_rank, Projections::none),
              ElementsAre("c.query.weight (4,4)", "c.key.weight (4,4)", "c.output.weight (4,4)"));
  EXPECT_THAT(made("d", additive, Projections::query_key_value),
              ElementsAre("d.query.weight (4,4)", "d.key.weight (4,4)", "d.value.weight (4,4)", "d.output.weight (4,4)",
                          "d.score.weight (4)"));
  EXPECT_THAT(made("e", location, Projections::query_key_value),
              ElementsAre("e.query.weight (4,4)", "e.value.weight (4,4)", "e.output.weight (4,4)",
                          "e.location.positions.weight (3,4)"));
}

}  // namespace
}  // namespace dragoman
