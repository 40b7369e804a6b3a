#include "nn/scores/score_kind.h"

#include <gmock/gmock.h>

#include <cmath>

#include "backend/backend.h"
#include "backend/registry.h"
#include "nn/cross_attention.h"

namespace dragoman {
namespace {

struct Scores : testing::Test {
  CrossAttention make(const std::string& name, AttentionScore score) {
    const AttentionDesign design{
        .sizes = {1, 2, 2}, .score = score, .projections = Projections::none, .projects_result = false};
    return CrossAttention::make(parameters, name, 2, design);
  }
  void set(const std::string& name, const std::vector<double>& values) {
    for (const auto& p : parameters.named())
      if (p.name == name) return void(std::copy(values.begin(), values.end(), p.value.as<double>()));
    FAIL() << "no parameter " << name;
  }
  static Tensor matrix(std::vector<float> values) { return float_tensor(values, {int64_t(values.size()) / 2, 2}); }
  std::vector<double> results(const CrossAttention& a) {
    const Var x(arena.allocate({2, 2}, DType::f64)), z(arena.allocate({3, 2}, DType::f64));
    cx.backend.copy(x, matrix({1, -1, 0.5, 2}));
    cx.backend.copy(z, matrix({0, 1, 2, -1, 0.25, 3}));
    const Spans two = Spans::of_lengths(std::vector<int32_t>{2}), three = Spans::of_lengths(std::vector<int32_t>{3});
    const Tensor y = a(cx, {.x = x, .spans = two, .positions = {}}, a.keys_and_values(cx, z, three, {}));
    return {y.as<double>(), y.as<double>() + y.elements()};
  }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Parameters parameters{backend("reference"), arena, DType::f64};
  Context cx{.backend = backend("reference"), .arena = arena};
};

// U = (1 2; 3 4), V = (5 6; 7 8): (Ux)·(Vz) = xᵀ UᵀV z. The bilinear score multiplies the query by Wᵀ = VᵀU =
// (26 38; 30 44).
TEST_F(Scores, ReducedRankIsBilinearWithTheProductOfItsMatrices) {
  const CrossAttention low = make("low", AttentionScore::reduced_rank), full = make("full", AttentionScore::bilinear);
  parameters.initialise(1);
  set("low.query.weight", {0.01, 0.02, 0.03, 0.04});
  set("low.key.weight", {5, 6, 7, 8});
  set("full.query.weight", {0.26, 0.38, 0.30, 0.44});
  EXPECT_THAT(results(low), testing::Pointwise(testing::DoubleNear(1e-12), results(full)));
}

// √K = √2.
TEST_F(Scores, ScaledDotIsDotOfASmallerQuery) {
  const CrossAttention scaled = make("scaled", AttentionScore::scaled_dot),
                       plain = make("plain", AttentionScore::bilinear);
  parameters.initialise(1);
  set("plain.query.weight", {std::sqrt(0.5), 0, 0, std::sqrt(0.5)});
  EXPECT_THAT(results(scaled), testing::Pointwise(testing::DoubleNear(1e-12), results(plain)));
}

}  // namespace
}  // namespace dragoman
