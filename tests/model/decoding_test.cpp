#include <gtest/gtest.h>

#include <cmath>

#include "backend/registry.h"
#include "tests/model/forced_logits.h"
#include "tests/model/golden_file.h"

namespace dragoman {
namespace {

struct Case {
  const char* golden;
  const char* backend;
  DType dtype;
  double tolerance;
};

class CachedStep : public ::testing::TestWithParam<Case> {};

TEST_P(CachedStep, EqualsTheFullPass) {
  const GoldenFile golden(GetParam().golden);
  const Backend& b = backend(GetParam().backend);
  Arena arena;
  const auto model = make_model(golden.config(), b, arena, GetParam().dtype, false);
  golden.load_parameters(model->parameters());
  const PackedWeights packed = model->parameters().pack();
  Context cx{.backend = b, .arena = arena, .packed = &packed};
  const Batch batch = golden.batch();
  const Tensor full = model->logits(cx, batch);
  const auto steps = forced_logits(*model, cx, batch);
  for (size_t n = 0; n < steps.size(); ++n) {
    const auto expected = row_of(full, int64_t(n));
    for (size_t v = 0; v < expected.size(); ++v) ASSERT_NEAR(steps[n][v], expected[v], GetParam().tolerance) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CachedStep,
                         ::testing::Values(Case{"post_norm", "reference", DType::f64, 1e-10},
                                           Case{"pre_norm", "reference", DType::f64, 1e-10},
                                           Case{"learned_positions", "reference", DType::f64, 1e-10},
                                           Case{"experts", "reference", DType::f64, 1e-10},
                                           Case{"compressed_memory", "reference", DType::f64, 1e-10},
                                           Case{"post_norm", "cpu", DType::f32, 1e-4},
                                           Case{"compressed_memory", "cpu", DType::f32, 1e-4},
                                           Case{"experts", "cpu", DType::f32, 1e-4},
                                           Case{"pre_norm", "cpu", DType::f32, 1e-4},
                                           Case{"learned_positions", "cpu", DType::f32, 1e-4}));

class AloneAndAmongOthers : public ::testing::TestWithParam<std::tuple<const char*, DType>> {};

TEST_P(AloneAndAmongOthers, LogitsOfASentenceAreTheSameBits) {
  const auto [name, type] = GetParam();
  const GoldenFile golden(name);
  const Backend& b = backend("cpu");
  Arena arena;
  const auto model = make_model(golden.config(), b, arena, DType::f32, false);
  golden.load_parameters(model->parameters());
  const PackedWeights packed = model->parameters().pack(type);
  Context cx{.backend = b, .arena = arena, .packed = &packed};
  const Batch batch = golden.batch();
  const auto together = forced_logits(*model, cx, batch);
  for (int s = 0; s < batch.source.spans.sentences(); ++s) {
    const auto one = [&](const PackedIds& side) {
      const Range span = side.spans[s];
      return PackedIds{{side.ids.begin() + span.begin, side.ids.begin() + span.end},
                       Spans::of_lengths({int32_t(span.end - span.begin)})};
    };
    const auto alone = forced_logits(*model, cx, {one(batch.source), one(batch.target), {s}});
    for (size_t t = 0; t < alone.size(); ++t)
      EXPECT_EQ(alone[t], together[batch.target.spans[s].begin + t]) << "sentence " << s << ", token " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AloneAndAmongOthers,
                         ::testing::Values(std::tuple("post_norm", DType::f32), std::tuple("experts", DType::f32),
                                           std::tuple("compressed_memory", DType::f32),
                                           std::tuple("compressed_memory", DType::i8),
                                           std::tuple("experts", DType::bf16), std::tuple("experts", DType::i8)));

}  // namespace
}  // namespace dragoman
