#include <gtest/gtest.h>

#include "backend/backend.h"
#include "backend/registry.h"
#include "model/model.h"
#include "tests/model/attention_family.h"
#include "tests/op_check/gpu.h"

namespace dragoman {
namespace {

/// The weights (H · nq·nk) of each sentence in one cross-attention.
using Weights = std::vector<std::vector<float>>;

// Of the cross-attention that is shown as number `which`, from 0.
AttentionObserver collects(int which, Weights& all) {
  return [&all, left = which](const ObservedAttention& a) mutable {
    if (!a.name.ends_with("cross_attention") || left-- != 0) return;
    const Tensor weights = a.weights.on_host();
    for (int s = 0; s < a.shape.queries.sentences(); ++s) {
      const Range queries = a.shape.queries[s], keys = a.shape.keys[s];
      const float* first = weights.as<float>() + a.shape.heads * a.shape.pairs_before(s);
      all.emplace_back(first, first + a.shape.heads * (queries.end - queries.begin) * (keys.end - keys.begin));
    }
  };
}

Weights of_full_pass(Model& model, const Context& cx, const Batch& batch) {
  Weights all;
  const ModelConfig& c = model.config();
  const AttentionObserver observer =
      collects(c.type == ModelType::s2s ? 0 : c.alignment.layer_of(c.decoder_layers), all);
  Context observed{.backend = cx.backend, .arena = cx.arena, .packed = cx.packed, .observer = &observer};
  model.logits(observed, batch);
  return all;
}

// Each sentence has two hypotheses, which change places in each step: one with the batch's target, one with other
// tokens. Without the attention until the first sentence has been added.
Weights of_steps(Model& model, Context& cx, const Batch& batch) {
  const auto decoding = model.decode(cx);
  const int count = int(batch.target.spans.sentences()), first = 1;
  decoding->add(0, {{3, 4}, Spans::of_lengths({2})}, 2);
  decoding->step(std::vector<StepRow>{{0, -1, -1}});
  decoding->keep_attention();
  decoding->keep_attention();  // again has no effect
  decoding->remove(0);
  decoding->add(first, batch.source, 2);
  std::vector<DecodedTokens> hypotheses;
  for (int s = 0; s < count; ++s) hypotheses.push_back({first + s, {}});
  std::vector<int> began(size_t(count), -1);  // row of the sentence's first hypothesis in the last step
  for (int64_t t = 0; t < batch.target.spans.longest(); ++t) {
    std::vector<StepRow> rows;
    for (int s = 0; s < count; ++s) {
      const Range span = batch.target.spans[s];
      if (t >= span.end - span.begin) continue;
      const int row = int(t % 2);  // of the hypothesis with the target
      const int was = began[size_t(s)];
      began[size_t(s)] = int(rows.size());
      for (const int p : {0, 1}) {
        const int32_t token = t == 0 ? -1 : batch.target.ids[size_t(span.begin + t - 1)];
        if (t == 0 && p == 1) continue;
        const int parent = t == 0 ? -1 : t == 1 ? was : was + 1 - p;
        rows.push_back({first + s, parent, p == row ? token : 3 + (token + 1) % 8});
      }
      hypotheses[size_t(s)].rows.push_back(row);
    }
    decoding->step(rows);
    decoding->keep();
  }
  Weights all;
  decoding->show_attention(collects(0, all), hypotheses);
  return all;
}

void expect_equal(const Weights& steps, const Weights& full) {
  ASSERT_EQ(steps.size(), full.size());
  for (size_t s = 0; s < full.size(); ++s) {
    ASSERT_EQ(steps[s].size(), full[s].size());
    for (size_t i = 0; i < full[s].size(); ++i) ASSERT_NEAR(steps[s][i], full[s][i], 1e-5) << s << " " << i;
  }
}

TEST_P(AttentionFamily, ShowsTheAttentionOfDecodedTokens) {
  const Variant& v = GetParam();
  if (v.alone() || (v.recurrent() && v.rnn_attention == RnnAttention::none)) {
    Arena arena;
    const auto model = make_model(v.config(), backend("cpu"), arena, DType::f32, false);
    Context cx{.backend = backend("cpu"), .arena = arena};
    EXPECT_THROW(model->decode(cx)->keep_attention(), std::logic_error) << "there is none";
    return;
  }
  for (const auto& [b, layer] : {std::pair(&backend("cpu"), 0), {&backend("cpu"), 1}, {&gpu_on_host(), 0}}) {
    ModelConfig config = v.config();
    config.alignment.layer = layer;
    Arena arena = b->is_device() ? Arena(*b->memory) : Arena();
    const auto model = make_model(config, *b, arena, DType::f32, false);
    model->parameters().initialise(7);
    const PackedWeights packed = model->parameters().pack();
    Context cx{.backend = *b, .arena = arena, .packed = &packed};
    SCOPED_TRACE(fmt::format("{}, layer {}", b->is_device() ? "gpu" : "cpu", layer));
    expect_equal(of_steps(*model, cx, small_batch()), of_full_pass(*model, cx, small_batch()));
  }
}

}  // namespace
}  // namespace dragoman
