#include "nn/poolings/pooling.h"

#include <gmock/gmock.h>

#include "backend/backend.h"
#include "backend/registry.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

// Lines of three rows and of one, each one sentence. The encoder reads the first column forward, the second backward.
struct Poolings : testing::Test {
  Var matrix(Shape shape, std::vector<float> values) {
    const Var x(arena.allocate(shape, DType::f64));
    cx.backend.copy(x, float_tensor(std::move(values), shape));
    return x;
  }
  std::vector<double> of(const Pooling& pooling) {
    const Spans sentences = Spans::of_lengths(std::vector<int32_t>{3, 1});
    const Tensor y = pooling(cx, states, {sentences, Spans::one_row_each(2), int_tensor({0, 0, 1, 0}, {2, 2})});
    return {y.as<double>(), y.as<double>() + y.elements()};
  }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 24};
  Parameters parameters{backend("reference"), arena, DType::f64};
  Context cx{.backend = backend("reference"), .arena = arena};
  EncoderStates states{matrix({4, 2}, {1, 10, 2, 20, 6, 60, 5, 50}), matrix({4, 1}, {1, 2, 6, 5}),
                       matrix({4, 1}, {10, 20, 60, 50})};
};

TEST_F(Poolings, LastIsTheStateThatEachDirectionEndsIn) {
  EXPECT_THAT(of(*make_last_pooling()), ElementsAre(6, 10, 5, 50));
}

TEST_F(Poolings, SumAndMeanAreOfAllStatesOfALine) {
  EXPECT_THAT(of(*make_sum_pooling()), ElementsAre(9, 90, 5, 50));
  EXPECT_THAT(of(*make_mean_pooling()), ElementsAre(3, 30, 5, 50));
}

// u = 0 weighs all states alike; u = (large, 0) takes the state of the largest first column.
TEST_F(Poolings, AttentionTakesTheStatesThatItsQueryPrefers) {
  const auto attention = make_attention_pooling(parameters, 2);
  double* query = parameters.named().front().value.as<double>();
  query[0] = query[1] = 0;
  EXPECT_THAT(of(*attention), testing::Pointwise(testing::DoubleNear(1e-12), std::vector<double>{3, 30, 5, 50}));
  query[0] = 1000;
  EXPECT_THAT(of(*attention), testing::Pointwise(testing::DoubleNear(1e-12), std::vector<double>{6, 60, 5, 50}));
}

}  // namespace
}  // namespace dragoman
