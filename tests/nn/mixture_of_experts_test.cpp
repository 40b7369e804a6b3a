#include "nn/mixture_of_experts.h"

#include <gmock/gmock.h>

#include "backend/registry.h"

namespace dragoman {
namespace {

using testing::ElementsAreArray;
using testing::Pointwise;

constexpr int64_t D = 6, F = 5;

struct Mixture : testing::Test {
  FeedForward network(const std::string& name) {
    return {Linear::make(parameters, {name + ".up"}, {F}, D), Linear::make(parameters, {name + ".down"}, {D}, F),
            Activation::relu};
  }
  MixtureOfExperts mixture(int experts, int top_k, double capacity = 0) {
    MixtureOfExperts m{
        parameters.matrix({{"router.weight", experts, Init::glorot(experts, D)}}, D, Parameters::Use::exact_product),
        {},
        top_k,
        0,
        capacity};
    for (int e = 0; e < experts; ++e) m.experts.push_back(network(fmt::format("expert.{}", e)));
    parameters.initialise(3);
    return m;
  }
  Var words(int64_t rows) {
    const Tensor x = arena.allocate({rows, D}, DType::f32);
    PhiloxSequence random(5, 0);
    for (int64_t i = 0; i < x.elements(); ++i) x.as<float>()[i] = float(random.normal());
    return Var(x);
  }
  static Tensor positions(int64_t rows) { return int_tensor(std::vector<int32_t>(size_t(2 * rows), 0), {rows, 2}); }
  static std::vector<float> row(const Tensor& x, int64_t n) {
    return {x.as<float>() + n * D, x.as<float>() + (n + 1) * D};
  }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 26};
  Parameters parameters{backend("cpu"), arena, DType::f32, Parameters::Flat{int64_t{1} << 18}};
  Context cx{.backend = backend("cpu"), .arena = arena};
};

// What experts count adds up to 1.
TEST_F(Mixture, OfNetworksThatAreAlikeIsOneOfThem) {
  MixtureOfExperts many = mixture(4, 3);
  for (FeedForward& expert : many.experts) expert = many.experts[0];
  const Var x = words(9);
  const Var expected = many.experts[0](cx, x, positions(9)), actual = many(cx, x, positions(9));
  for (int64_t n = 0; n < 9; ++n) EXPECT_THAT(row(actual, n), Pointwise(testing::FloatNear(1e-5f), row(expected, n)));
}

TEST_F(Mixture, LeavesWhatIsBeyondTheCapacityToTheResidualInTrainingOnly) {
  const MixtureOfExperts one = mixture(2, 1, 0.5);  // of 8 words, 2 an expert
  const Var x = words(8);
  const auto passed_by = [&] {
    const Var y = one(cx, x, positions(8));
    int count = 0;
    for (int64_t n = 0; n < 8; ++n) count += row(y, n) == std::vector<float>(D, 0.0f);
    return count;
  };
  EXPECT_EQ(passed_by(), 0);
  cx.training = true;
  EXPECT_GE(passed_by(), 4);
}

TEST_F(Mixture, GivesARowTheSameBitsAloneAndAmongOthers) {
  const MixtureOfExperts many = mixture(5, 2);
  const Var x = words(33);
  for (const DType type : {DType::f32, DType::bf16, DType::i8}) {
    const PackedWeights packed = parameters.pack(type);
    cx.packed = &packed;
    const Var together = many(cx, x, positions(33));
    for (int64_t n = 0; n < 33; ++n)
      EXPECT_THAT(row(many(cx, rows(x, n, 1), positions(1)), 0), ElementsAreArray(row(together, n))) << n;
  }
}

TEST_F(Mixture, OfNoRowsIsNoRows) {
  const MixtureOfExperts many = mixture(3, 2);
  EXPECT_EQ(many(cx, words(0), positions(0)).shape(), Shape({0, D}));
}

// A router that was rounded would send some rows elsewhere than in training.
TEST_F(Mixture, ChoosesByTheSameRouterInEveryPrecision) {
  const MixtureOfExperts many = mixture(3, 2);
  for (const DType type : {DType::f32, DType::bf16, DType::i8}) {
    const PackedWeights packed = parameters.pack(type);
    EXPECT_EQ(packed.at(many.router.value().data()).dtype(), DType::f32);
    EXPECT_EQ(packed.at(many.experts[0].up.weight.value().data()).dtype(), type);
  }
  const RoundedWeights rounded = parameters.rounded_weights(DType::bf16, false);
  EXPECT_FALSE(rounded.copies.contains(many.router.value().data()));
}

}  // namespace
}  // namespace dragoman
