#include <gtest/gtest.h>

#include "backend/registry.h"
#include "model/model.h"

namespace dragoman {
namespace {

std::vector<std::vector<double>> gradients_of(const ModelConfig& config, const Batch& batch) {
  Arena arena;
  const auto model = make_model(config, backend("reference"), arena, DType::f64, true);
  model->parameters().initialise(7);
  Tape tape;
  Context cx{.backend = backend("reference"), .arena = arena, .tape = &tape};
  model->parameters().forget_gradients();
  model->loss(cx, batch, 0.1);
  tape.backward(cx.backend, arena);
  std::vector<std::vector<double>> all;
  for (const auto& p : model->parameters().named())
    all.emplace_back(p.gradient.as<double>(), p.gradient.as<double>() + p.gradient.elements());
  return all;
}

// Learning the source too is learning a target that begins with it.
TEST(DecoderOnly, LearnsTheSourceAsALanguageModelOfBothSides) {
  ModelConfig config;
  config.type = ModelType::decoder_only;
  config.dim = 8, config.decoder_layers = config.heads = 2, config.feed_forward = 12;
  config.dropout.sublayer = 0;
  config.source_vocabulary = config.target_vocabulary = 11;
  const Batch batch{
      {{3, 6, 9, 4, 7, 10, 5}, Spans({0, 4, 5, 7})}, {{3, 8, 5, 10, 7, 4}, Spans({0, 2, 5, 6})}, {0, 1, 2}};
  std::vector<int32_t> lengths;
  Batch joined{{{}, Spans::of_lengths({0, 0, 0})}, {}, batch.sentences};
  for (int s = 0; s < 3; ++s) {
    const size_t before = joined.target.ids.size();
    for (const PackedIds* side : {&batch.source, &batch.target})
      joined.target.ids.insert(joined.target.ids.end(), side->ids.begin() + side->spans[s].begin,
                               side->ids.begin() + side->spans[s].end);
    lengths.push_back(int32_t(joined.target.ids.size() - before));
  }
  joined.target.spans = Spans::of_lengths(lengths);
  const auto expected = gradients_of(config, joined);
  config.learns_source = true;
  const auto actual = gradients_of(config, batch);
  for (size_t p = 0; p < expected.size(); ++p)
    for (size_t i = 0; i < expected[p].size(); ++i) EXPECT_NEAR(actual[p][i], expected[p][i], 1e-12);
}

}  // namespace
}  // namespace dragoman
