#include <gtest/gtest.h>

#include <cmath>

#include "backend/registry.h"
#include "model/model.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

ModelConfig small(RnnAttention when) {
  ModelConfig c;
  c.type = ModelType::s2s;
  c.dim = 4, c.rnn.dim = 6, c.encoder_layers = c.decoder_layers = c.heads = 1;
  c.source_vocabulary = c.target_vocabulary = 9;
  c.dropout.rnn = 0;
  c.rnn.decoder.attention = when;
  c.attention.score = when == RnnAttention::luong ? AttentionScore::bilinear : AttentionScore::additive;
  c.attention.projections = Projections::none;
  c.attention.choice = AttentionKind::hard;
  return c;
}

// A model in f64 with weights large enough to prefer something, and what it learns from a batch.
struct HardModel {
  explicit HardModel(const ModelConfig& config)
      : model(make_model(config, backend("reference"), arena, DType::f64, true)) {
    model->parameters().initialise(7);
    model->baseline().value = 1.5;
    for (const auto& p : model->parameters().named())
      for (int64_t i = 0; i < p.value.elements(); ++i) p.value.as<double>()[i] *= 1.5;
  }
  std::vector<double> losses(const Batch& batch, bool training) {
    Context cx = context();
    cx.training = training;
    return values_of(model->loss(cx, batch, 0).loss);
  }
  std::vector<double> gradients(const Batch& batch) {
    Tape tape;
    Context cx = context();
    cx.tape = &tape, cx.training = true;
    model->parameters().forget_gradients();
    model->loss(cx, batch, 0);
    tape.backward(cx.backend, arena);
    std::vector<double> all;
    for (const auto& p : model->parameters().named()) {
      const auto values = values_of(p.gradient);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  Context context() {
    Context cx{.backend = backend("reference"), .arena = arena};
    cx.seed = 3, cx.update = 5;
    return cx;
  }

  Arena arena{Arena::Reserve::memory, int64_t{1} << 29};
  std::unique_ptr<Model> model;
};

PackedIds packed(const std::vector<std::vector<int32_t>>& sentences) {
  PackedIds all;
  std::vector<int32_t> lengths;
  for (const auto& ids : sentences) {
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    lengths.push_back(int32_t(ids.size()));
  }
  all.spans = Spans::of_lengths(lengths);
  return all;
}

class HardAttentionModel : public testing::TestWithParam<RnnAttention> {};

// Sentences of different lengths: what is drawn, and which losses a draw answers for, is each sentence's own affair.
TEST_P(HardAttentionModel, LearnsFromASentenceAmongOthersAsFromItAlone) {
  HardModel m(small(GetParam()));
  const std::vector<std::vector<int32_t>> sources = {{3, 4, 2}, {5, 2}, {6, 7, 8, 3, 2}},
                                          targets = {{4, 2}, {5, 6, 3, 2}, {7, 2}};
  const Batch together{packed(sources), packed(targets), {11, 4, 6}};
  const auto losses = m.losses(together, true), gradients = m.gradients(together);
  std::vector<double> alone_losses, sums(gradients.size());
  for (size_t s = 0; s < 3; ++s) {
    const Batch alone{packed({sources[s]}), packed({targets[s]}), {together.sentences[s]}};
    for (const double loss : m.losses(alone, true)) alone_losses.push_back(loss);
    const auto part = m.gradients(alone);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
  }
  ASSERT_EQ(losses.size(), alone_losses.size());
  for (size_t n = 0; n < losses.size(); ++n) EXPECT_NEAR(losses[n], alone_losses[n], 1e-12) << n;
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(gradients[i], sums[i], 1e-11) << i;
}

// Two source pieces and one label: two things may happen, each with the weight of its piece.
double expected_loss(HardModel& m, const std::vector<int32_t>& source) {
  const auto batch = [&](int copies) {
    Batch b{
        packed(std::vector(size_t(copies), source)), packed(std::vector(size_t(copies), std::vector<int32_t>{4})), {}};
    for (int s = 0; s < copies; ++s) b.sentences.push_back(s);
    return b;
  };
  double heavier = 0;
  const AttentionObserver observer = [&](const ObservedAttention& a) {
    for (const double p : values_of(a.weights)) heavier = std::max(heavier, p);
  };
  Context cx = m.context();
  cx.observer = &observer;
  const double likeliest = values_of(m.model->loss(cx, batch(1), 0).loss)[0];
  double other = likeliest;
  for (const double loss : m.losses(batch(200), true))
    if (std::abs(loss - likeliest) > std::abs(other - likeliest)) other = loss;
  EXPECT_NE(other, likeliest) << "200 draws, all of them the same";
  return heavier * likeliest + (1 - heavier) * other;
}

TEST_P(HardAttentionModel, FollowsTheGradientOfTheExpectedLossInTheMean) {
  constexpr int copies = 20'000;
  ModelConfig config = small(GetParam());
  config.attention.reward = 1, config.attention.entropy = 0;
  HardModel m(config);
  const std::vector<int32_t> source = {6, 2};
  Batch many{packed(std::vector(copies, source)), packed(std::vector(copies, std::vector<int32_t>{4})), {}};
  for (int s = 0; s < copies; ++s) many.sentences.push_back(s);
  m.model->baseline().value = expected_loss(m, source);
  const auto sums = m.gradients(many);
  size_t first = 0;
  for (const auto& p : m.model->parameters().named()) {
    const size_t i = size_t(p.value.elements() / 2);
    double& weight = p.value.as<double>()[i];
    const double before = weight;
    weight = before + 1e-5;
    const double above = expected_loss(m, source);
    weight = before - 1e-5;
    const double below = expected_loss(m, source);
    weight = before;
    const bool by_reward = p.name.find("cross_attention") != p.name.npos;  // alone, which varies little
    EXPECT_NEAR(sums[first + i] / copies, (above - below) / 2e-5, by_reward ? 0.005 : 0.03) << p.name;
    first += size_t(p.value.elements());
  }
}

// The trainer may begin an update before it knows the loss of the one before, unless the model says otherwise.
TEST_P(HardAttentionModel, AloneLearnsFromTheBaselineAndSaysSo) {
  const Batch batch{packed({{3, 4, 2}, {5, 6, 2}}), packed({{4, 2}, {5, 6, 2}}), {0, 1}};
  for (const AttentionKind choice : {AttentionKind::soft, AttentionKind::hard}) {
    ModelConfig config = small(GetParam());
    config.attention.choice = choice;
    HardModel m(config);
    const auto gradients = m.gradients(batch);
    m.model->baseline().value += 1;
    EXPECT_EQ(m.gradients(batch) != gradients, choice == AttentionKind::hard);
    EXPECT_EQ(m.model->learns_from_baseline(), choice == AttentionKind::hard);
  }
}

INSTANTIATE_TEST_SUITE_P(When, HardAttentionModel, testing::Values(RnnAttention::bahdanau, RnnAttention::luong),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace dragoman
