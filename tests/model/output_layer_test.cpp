#include "model/output_layer.h"

#include <gmock/gmock.h>

#include "backend/registry.h"
#include "nn/parameters.h"

namespace dragoman {
namespace {

struct OutputLayerCase {
  const char* backend;
  bool packed;
  DType type;  // of packed weights
};

class OutputLayerTest : public testing::TestWithParam<OutputLayerCase> {
 public:
  void expect_the_same_logits(bool with_bias);
};

void OutputLayerTest::expect_the_same_logits(bool with_bias) {
  constexpr int64_t V = 70, D = 17, R = 3;
  const Backend& b = backend(GetParam().backend);
  Arena arena;
  Parameters parameters(b, arena, DType::f32);
  const Var weight = parameters.matrix({{"output.weight", V, {Init::uniform, 1}}}, D);
  const Var bias = with_bias ? parameters.vector({{"output.bias", V, {Init::uniform, 1}}}) : Var();
  const Var x = parameters.matrix({{"x", R, {Init::uniform, 1}}}, D, Parameters::Use::lookup);
  parameters.initialise(3);
  const PackedWeights packed = parameters.pack(GetParam().type);
  Context cx{.backend = b, .arena = arena, .packed = GetParam().packed ? &packed : nullptr};
  OutputLayer output(cx, {weight, bias});
  const Tensor all = output(cx, x);
  ASSERT_EQ(all.cols(), V);
  for (const std::vector<int32_t>& pieces : {std::vector{0}, {2, 31, 32, 33, 69}, {5, 64}}) {
    output.restrict(pieces);
    const Tensor some = output(cx, x);
    ASSERT_EQ(some.cols(), int64_t(pieces.size()));
    for (int64_t r = 0; r < R; ++r)
      for (size_t i = 0; i < pieces.size(); ++i) {
        const float expected = all.view<float>()(r, pieces[i]), found = some.view<float>()(r, int64_t(i));
        if (GetParam().packed)
          EXPECT_EQ(found, expected);
        else
          EXPECT_NEAR(found, expected, 1e-5);
      }
  }
  output.restrict({});
  EXPECT_EQ(output(cx, x).cols(), V);
}

TEST_P(OutputLayerTest, GivesTheSameLogitsForSomePiecesAsForAll) { expect_the_same_logits(false); }
TEST_P(OutputLayerTest, AddsToTheLogitsOfSomePiecesTheirBiases) { expect_the_same_logits(true); }

INSTANTIATE_TEST_SUITE_P(Weights, OutputLayerTest,
                         testing::Values(OutputLayerCase{"cpu", true, DType::f32},
                                         OutputLayerCase{"cpu", true, DType::i8},
                                         OutputLayerCase{"cpu", false, DType::f32},
                                         OutputLayerCase{"reference", true, DType::i8},
                                         OutputLayerCase{"reference", false, DType::f32}));

}  // namespace
}  // namespace dragoman
