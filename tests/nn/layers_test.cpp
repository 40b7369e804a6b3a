#include "nn/layers.h"

#include <gmock/gmock.h>

#include "backend/registry.h"
#include "nn/attention.h"

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
  Parameters parameters{backend("reference"), arena, DType::f64, false};
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

TEST_F(Layers, NormBeginsAsPlainNormalisation) {
  const Norm norm = Norm::make(parameters, "norm", 2);
  EXPECT_THAT(names(), ElementsAre("norm.weight (2)", "norm.bias (2)"));
  parameters.initialise(1);
  EXPECT_THAT(values(norm(cx, Var(matrix({1, 2}, {1, 5})))),
              testing::Pointwise(testing::DoubleNear(1e-5), std::vector<double>{-1, 1}));
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
  const SelfAttention a = SelfAttention::make(parameters, "a", 2, {1, 2, 2}, 1);
  EXPECT_THAT(names(),
              ElementsAre("a.query.weight (2,2)", "a.key.weight (2,2)", "a.value.weight (2,2)", "a.query.bias (2)",
                          "a.key.bias (2)", "a.value.bias (2)", "a.output.weight (2,2)", "a.output.bias (2)"));
  parameters.initialise(1);
  set("a.value.weight", {2, 0, 0, 3});
  set("a.output.weight", {1, 0, 0, 1});
  set("a.output.bias", {100, 200});
  const Spans single = Spans::of_lengths(std::vector<int32_t>{1});
  EXPECT_THAT(values(a(cx, Var(matrix({1, 2}, {5, 7})), single, Visibility::all(), Tensor())), ElementsAre(110, 221));
}

// With queries of zero all keys weigh the same: the mean of the values of the two memory rows.
TEST_F(Layers, CrossAttentionWithoutAQueryIsTheMeanOfValues) {
  const CrossAttention a = CrossAttention::make(parameters, "a", 2, {2, 1, 1}, 1);
  EXPECT_THAT(names(),
              ElementsAre("a.query.weight (2,2)", "a.query.bias (2)", "a.key.weight (2,2)", "a.value.weight (2,2)",
                          "a.key.bias (2)", "a.value.bias (2)", "a.output.weight (2,2)", "a.output.bias (2)"));
  parameters.initialise(1);
  set("a.query.weight", {0, 0, 0, 0});
  set("a.value.weight", {1, 0, 0, 1});
  set("a.output.weight", {1, 0, 0, 1});
  const Var x(matrix({1, 2}, {9, 9})), memory(matrix({2, 2}, {1, 10, 3, 30}));
  const Spans one = Spans::of_lengths(std::vector<int32_t>{1}), two = Spans::of_lengths(std::vector<int32_t>{2});
  EXPECT_THAT(values(a(cx, x, memory, one, two, Tensor())), ElementsAre(2, 20));
}

}  // namespace
}  // namespace dragoman
