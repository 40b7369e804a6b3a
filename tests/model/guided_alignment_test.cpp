#include "model/guided_alignment.h"

#include <gmock/gmock.h>

#include <array>
#include <map>

#include "align/model_alignment.h"
#include "backend/registry.h"
#include "model/model.h"
#include "model/validate.h"
#include "tests/align_pairs.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

ModelConfig small() {
  ModelConfig c;
  c.dim = 8, c.encoder_layers = 1, c.decoder_layers = 3, c.heads = 2, c.feed_forward = 12;
  c.dropout.sublayer = 0;
  c.source_vocabulary = c.target_vocabulary = 11;
  return c;
}

ModelConfig recurrent(RnnAttention attention) {
  ModelConfig c = small();
  c.type = ModelType::s2s;
  c.decoder_layers = 2, c.heads = 1, c.rnn.dim = 8;
  c.dropout.rnn = 0;
  c.rnn.decoder.attention = attention;
  c.attention.score = attention == RnnAttention::luong ? AttentionScore::bilinear : AttentionScore::additive;
  if (attention == RnnAttention::luong) c.attention.projections = Projections::none;
  return c;
}

// The sentences of different lengths, the longer target last: the steps have another order than the batch.
Batch aligned_batch() { return {{{5, 3, 8, 2, 4, 2}, Spans({0, 4, 6})}, {{3, 5, 2, 9, 2}, Spans({0, 3, 5})}, {0, 1}}; }

TEST(AttentionLinks, DivideTheWeightOfATargetTokenAmongItsLinks) {
  Batch b = aligned_batch();
  EXPECT_TRUE(attention_links(b).empty());
  b.links = {{{0, 0}, {1, 2}, {3, 0}}, {{1, 1}}};
  b.links_weight = 0.5;
  b.weights = {1, 4};
  std::vector<std::array<float, 3>> found;
  for (const auto& [query, key, weight] : attention_links(b)) found.push_back({float(query), float(key), weight});
  EXPECT_EQ(found, (std::vector<std::array<float, 3>>{{0, 0, 0.25}, {2, 1, 0.5}, {0, 3, 0.25}, {4, 5, 2}}));
  EXPECT_EQ(b.linked_weight(), 0.5 * 2 + 2);
  b.links = {{}, {}};
  EXPECT_TRUE(attention_links(b).empty());
}

struct Guided : testing::Test {
  // The sum of both losses, and the gradient of a parameter.
  double loss(Model& model, const Batch& b, const std::string& parameter, std::vector<double>* gradient) {
    Tape tape;
    Context cx{.backend = backend("reference"), .arena = arena, .tape = &tape};
    model.parameters().forget_gradients();
    const TokenLoss loss = model.loss(cx, b, 0.1);
    tape.backward(cx.backend, arena);
    model.parameters().zero_unwritten_gradients();
    for (const auto& p : model.parameters().named())
      if (p.name == parameter) *gradient = values_of(p.gradient);
    return sum_of(loss.loss) + (loss.of_links ? sum_of(loss.of_links) : 0);
  }
  std::unique_ptr<Model> make(const ModelConfig& config) {
    auto model = make_model(config, backend("reference"), arena, DType::f64, true);
    model->parameters().initialise(7);
    return model;
  }

  Arena arena;
};

// The query and key projections of the guided layer, and a layer below it.
TEST_F(Guided, GradientsAreThoseOfBothLosses) {
  ModelConfig last = small(), second = small(), additive = small();
  second.alignment.layer = 2;
  additive.attention.score = AttentionScore::additive;
  for (const ModelConfig& config :
       {last, second, additive, recurrent(RnnAttention::bahdanau), recurrent(RnnAttention::luong)}) {
    const auto model = make(config);
    Batch b = aligned_batch();
    b.links = {{{0, 0}, {1, 2}, {3, 0}}, {{1, 1}}};
    b.links_weight = 0.7;
    for (const auto& p : model->parameters().named()) {
      if (!p.name.ends_with("cross_attention.query.weight") && !p.name.ends_with("cross_attention.key.weight") &&
          p.name != "encoder.0.feed_forward.inner.weight" && !p.name.ends_with("score.weight") &&
          p.name != "decoder.0.feed.weight")
        continue;
      std::vector<double> gradient, ignored;
      loss(*model, b, p.name, &gradient);
      ASSERT_FALSE(gradient.empty()) << p.name;
      for (const int64_t element : {int64_t{0}, p.value.elements() / 2, p.value.elements() - 1}) {
        double& x = p.value.as<double>()[element];
        const double before = x, step = 1e-5;
        x = before + step;
        const double above = loss(*model, b, p.name, &ignored);
        x = before - step;
        const double below = loss(*model, b, p.name, &ignored);
        x = before;
        EXPECT_NEAR(gradient[size_t(element)], (above - below) / (2 * step), 1e-7) << p.name << " " << element;
      }
    }
  }
}

TEST_F(Guided, LinksChangeGradientsButNotTheLossOfTokens) {
  const auto model = make(small());
  Tape tape;
  Context cx{.backend = backend("reference"), .arena = arena, .tape = &tape};
  Batch b = aligned_batch();
  const auto plain = values_of(model->loss(cx, b, 0.1).loss);
  b.links = {{{0, 0}}, {}};
  b.links_weight = 1;
  const TokenLoss guided = model->loss(cx, b, 0.1);
  EXPECT_EQ(values_of(guided.loss), plain);
  EXPECT_EQ(guided.of_links.shape(), Shape({5, 1}));
  Context scores{.backend = backend("reference"), .arena = arena};
  EXPECT_FALSE(model->loss(scores, b, 0).of_links);
}

TEST_F(Guided, GradientsOnTheCpuAreThoseOfReference) {
  Batch b = aligned_batch();
  b.links = {{{0, 0}, {1, 2}, {3, 0}}, {{1, 1}}};
  b.links_weight = 0.7;
  b.weights = {0.5, 2};
  for (const ModelConfig& config : {small(), recurrent(RnnAttention::bahdanau), recurrent(RnnAttention::luong)}) {
    std::map<std::string, std::vector<double>> gradients[2];
    for (const int fast : {0, 1}) {
      const Backend& on = backend(fast ? "cpu" : "reference");
      const auto model = make_model(config, on, arena, fast ? DType::f32 : DType::f64, true);
      model->parameters().initialise(7);
      Tape tape;
      Context cx{.backend = on, .arena = arena, .tape = &tape};
      model->parameters().forget_gradients();
      model->loss(cx, b, 0.1);
      tape.backward(on, arena);
      for (const auto& p : model->parameters().named()) gradients[fast][p.name] = values_of(p.gradient);
    }
    for (const auto& [name, expected] : gradients[0])
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(gradients[1][name][i], expected[i], 2e-5) << name << " " << i;
  }
}

// A model without training: the layers and heads of an alignment differ.
TEST_F(Guided, AlignmentsAreOfTheLayerAndHeadsOfTheConfiguration) {
  const auto alignment = [&](AlignmentConfig of) {
    ModelConfig config = small();
    config.alignment = of;
    const auto model = make_model(config, backend("cpu"), arena, DType::f32, false);
    model->parameters().initialise(7);
    const Context cx{.backend = backend("cpu"), .arena = arena};
    const std::vector<IdPair> pairs = {{{5, 3, 8, 2}, {3, 5, 2}}};
    return align_pairs(cx, *model, pairs)[0].weights;
  };
  const auto last = alignment({}), first_head = alignment({.layer = 0, .heads = 1});
  EXPECT_EQ(last, alignment({.layer = 3, .heads = 2}));
  EXPECT_EQ(first_head, alignment({.layer = 3, .heads = 1}));
  EXPECT_NE(last, first_head);
  EXPECT_NE(last, alignment({.layer = 2}));
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += first_head[size_t(i)];
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(GuidedAlignmentConfig, IsForCrossAttention) {
  ModelConfig config = small();
  EXPECT_EQ(with_guided_alignment(config).alignment.heads, 1);
  EXPECT_EQ(with_guided_alignment(recurrent(RnnAttention::bahdanau)).alignment.heads, 1);
  const auto message = [&] { return error_of([&] { with_guided_alignment(config); }); };
  config = recurrent(RnnAttention::none);
  EXPECT_THAT(message(), HasSubstr("contradicts --rnn-attention none"));
  config = recurrent(RnnAttention::luong);
  config.attention.local = 2, config.attention.local_center = LocalCenter::predictive;
  EXPECT_THAT(message(), HasSubstr("contradicts --attention-local-center predictive"));
  config = small();
  config.type = ModelType::decoder_only;
  EXPECT_THAT(message(), HasSubstr("which --type decoder-only does not have"));
}

TEST(GuidedAlignmentConfig, NamesALayerThatThereIs) {
  ModelConfig config = small();
  config.alignment.layer = 4;
  EXPECT_THAT(error_of([&] { validate(config); }),
              HasSubstr("--transformer-guided-alignment-layer 4 is beyond the decoder, which has 3 layers"));
  config.alignment = {.layer = 3, .heads = 3};
  EXPECT_THAT(error_of([&] { validate(config); }), HasSubstr("alignment_heads is 3, but a decoder layer has 2 heads"));
}

}  // namespace
}  // namespace dragoman
