#include <gmock/gmock.h>

#include <cmath>

#include "backend/backend.h"
#include "backend/registry.h"
#include "io/model_file.h"
#include "tests/model/attention_family.h"
#include "tests/model/forced_logits.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

// A model with low-rank updates computes, in full passes and steps, what one with merged weights does.
TEST_P(AttentionFamily, ComputesWithUpdatesAsWithMergedWeights) {
  const Backend& reference = backend("reference");
  Arena arena;
  const auto tuned =
      make_model(GetParam().config(), reference, arena, DType::f64, true, {.frozen = {}, .lora_rank = 2});
  tuned->parameters().initialise(7);
  for (const auto& p : tuned->parameters().named())
    if (p.is_update()) reference.fill(p.value, 0.3);
  const auto merged = make_model(GetParam().config(), reference, arena, DType::f64, false);
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& w : weights_of(tuned->parameters())) weights[w.name] = w.value;
  for (const auto& p : merged->parameters().named()) p.value.assign(weights.at(p.name));
  EXPECT_EQ(weights.size(), merged->parameters().named().size());
  Context cx{.backend = reference, .arena = arena};
  const auto expected = values_of(merged->logits(cx, small_batch())),
             found = values_of(tuned->logits(cx, small_batch()));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << i;
  const auto steps = forced_logits(*merged, cx, small_batch()), of_tuned = forced_logits(*tuned, cx, small_batch());
  for (size_t n = 0; n < steps.size(); ++n)
    for (size_t v = 0; v < steps[n].size(); ++v)
      ASSERT_NEAR(of_tuned[n][v], steps[n][v], 1e-12 * (1 + std::abs(steps[n][v]))) << n;
}

TEST(LowRankUpdates, AreOfAnSsruWithNormsToo) {
  const auto updates = [](bool norms) {
    ModelConfig config{.dim = 8, .source_vocabulary = 9, .target_vocabulary = 9};
    config.heads = 2, config.feed_forward = 8, config.autoregression = Autoregression::rnn, config.rnn.norm = norms;
    Arena arena;
    const auto model =
        make_model(config, backend("reference"), arena, DType::f64, true, {.frozen = {}, .lora_rank = 2});
    return std::ranges::count_if(model->parameters().named(), [](const auto& p) { return p.is_update(); });
  };
  EXPECT_EQ(updates(true), updates(false));
}

}  // namespace
}  // namespace dragoman
