#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "backend/backend.h"
#include "backend/registry.h"
#include "tests/model/forced_logits.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

constexpr int V = 11;

ModelConfig config_of(ModelType type) {
  ModelConfig c;
  c.type = type;
  c.dim = 8, c.encoder_layers = c.decoder_layers = 1, c.heads = 2, c.feed_forward = 12, c.rnn.dim = 10;
  c.dropout.sublayer = c.dropout.rnn = 0;
  c.source_vocabulary = c.target_vocabulary = V;
  c.copies = true;
  return c;
}

// Piece 5 twice in the first source; nothing of the second source in its target but </s>.
Batch batch() { return {{{5, 3, 5, 8, 2, 4, 4, 2}, Spans({0, 5, 8})}, {{3, 5, 7, 2, 9, 2}, Spans({0, 4, 6})}, {0, 1}}; }

class CopyingModel : public testing::TestWithParam<ModelType> {
 protected:
  std::unique_ptr<Model> make(double gate) {
    auto model = make_model(config_of(GetParam()), backend("reference"), arena, DType::f64, false);
    model->parameters().initialise(7);
    for (const auto& p : model->parameters().named())
      if (p.name == "copy.gate.bias") p.value.as<double>()[0] = gate;
    return model;
  }

  Arena arena;
  Context cx{.backend = backend("reference"), .arena = arena};
};

// The loss finds the probability of one label by attention, the logits those of all pieces by another kernel.
TEST_P(CopyingModel, LossAndLogitsAgreeOnTargetProbabilities) {
  const auto model = make(0.3);
  const Tensor all = model->logits(cx, batch()), target_tokens = model->loss(cx, batch(), 0).log_prob;
  for (int64_t n = 0; n < all.rows(); ++n) {
    const auto row = row_of(all, n);
    double sum = 0;
    for (const double x : row) sum += std::exp(x);
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_NEAR(target_tokens.as<double>()[n], row[batch().target.ids[n]], 1e-12) << n;
  }
}

TEST_P(CopyingModel, SaysOnlyWhatTheSourceSaysWhereTheGateIsShut) {
  const auto model = make(-1000);
  const Tensor all = model->logits(cx, batch());
  const std::vector<std::vector<int32_t>> sources = {{2, 3, 5, 8}, {2, 4}};
  for (int64_t n = 0; n < all.rows(); ++n)
    for (int32_t v = 0; v < V; ++v) {
      const bool occurs = std::ranges::count(sources[n < 4 ? 0 : 1], v) > 0;
      EXPECT_EQ(all.view<double>()(n, v) > -900, occurs) << n << " " << v;
    }
}

// As the same model without the head, whose other weights it shares by name.
TEST_P(CopyingModel, GeneratesAsWithoutAHeadWhereTheGateIsWideOpen) {
  const auto model = make(1000);
  ModelConfig config = config_of(GetParam());
  config.copies = false;
  const auto plain = make_model(config, backend("reference"), arena, DType::f64, false);
  plain->parameters().initialise(7);
  const TokenLoss with = model->loss(cx, batch(), 0.1), without = plain->loss(cx, batch(), 0.1);
  for (int64_t n = 0; n < with.loss.elements(); ++n) {
    EXPECT_NEAR(with.loss.as<double>()[n], without.loss.as<double>()[n], 1e-12);
    EXPECT_NEAR(with.log_prob.as<double>()[n], without.log_prob.as<double>()[n], 1e-12);
  }
}

TEST_P(CopyingModel, GivesASentenceTheSameBitsAloneAndAmongOthers) {
  auto model = make_model(config_of(GetParam()), backend("cpu"), arena, DType::f32, false);
  model->parameters().initialise(7);
  const PackedWeights packed = model->parameters().pack();
  Context cpu{.backend = backend("cpu"), .arena = arena, .packed = &packed};
  const auto together = forced_logits(*model, cpu, batch());
  const auto scores = values_of(model->loss(cpu, batch(), 0).log_prob);
  const Batch alone[] = {{{{5, 3, 5, 8, 2}, Spans({0, 5})}, {{3, 5, 7, 2}, Spans({0, 4})}, {0}},
                         {{{4, 4, 2}, Spans({0, 3})}, {{9, 2}, Spans({0, 2})}, {1}}};
  for (int s = 0; s < 2; ++s) {
    const auto steps = forced_logits(*model, cpu, alone[s]);
    const auto own = values_of(model->loss(cpu, alone[s], 0).log_prob);
    for (size_t t = 0; t < steps.size(); ++t) {
      EXPECT_EQ(steps[t], together[4 * s + t]);
      EXPECT_EQ(own[t], scores[4 * s + t]);
    }
  }
}

// The probability of a piece that is copied from where the attention is not is so small that float16 does not hold the
// gradient.
TEST(CopyingModelInFloat16, HasGradientsWhateverItIsAskedToCopy) {
  const Backend& gpu = gpu_on_host();
  for (const bool half : {false, true}) {
    Arena arena(*gpu.memory);
    const auto model = make_model(config_of(ModelType::transformer), gpu, arena, DType::f32, true);
    Parameters& parameters = model->parameters();
    parameters.initialise(7);
    for (const auto& p : parameters.named()) {
      if (p.name == "copy.gate.bias") gpu.fill(p.value, -40);
      if (p.name != "copy.key.weight") continue;
      std::vector<float> large;
      for (const double x : normals(p.value.elements(), 1)) large.push_back(float(8 * x));
      gpu.copy(p.value, float_tensor(std::move(large), p.value.shape()));
    }
    RoundedWeights rounded = parameters.rounded_weights(DType::f16, half);
    parameters.round(rounded);
    Tape tape;
    Context cx{.backend = gpu, .arena = arena, .tape = &tape, .rounded = &rounded, .training = true};
    parameters.forget_gradients();
    const auto log_prob = values_of(model->loss(cx, batch(), 0).log_prob);
    EXPECT_LT(log_prob[0], -12) << "of a piece that is copied";
    EXPECT_GT(log_prob[0], -35) << "and not generated";
    tape.backward(gpu, arena);
    for (const auto& p : parameters.named())
      for (const double g : values_of(p.gradient)) ASSERT_TRUE(std::isfinite(g)) << p.name;
  }
}

TEST_P(CopyingModel, RefusesVocabulariesOfTwoSizes) {
  ModelConfig config = config_of(GetParam());
  config.embeddings.tied_all = false;
  config.source_vocabulary = V + 1;
  EXPECT_THAT(error_of([&] { make_model(config, backend("reference"), arena, DType::f64, false); }),
              testing::HasSubstr("copies pieces of one vocabulary, but its vocabularies have 12 and 11"));
}

INSTANTIATE_TEST_SUITE_P(Types, CopyingModel, testing::Values(ModelType::transformer, ModelType::s2s),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace dragoman
