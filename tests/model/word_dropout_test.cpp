#include <gmock/gmock.h>

#include "backend/registry.h"
#include "model/model.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

struct WordDropout : testing::TestWithParam<ModelType> {
  WordDropout() {
    config.type = GetParam();
    config.dim = config.rnn.dim = 8, config.encoder_layers = config.decoder_layers = 1;
    config.heads = 2, config.feed_forward = 12;
    config.dropout.sublayer = config.dropout.rnn = 0;
    config.source_vocabulary = config.target_vocabulary = 11;
  }

  // The log-probabilities of the target tokens.
  std::vector<double> scores(const std::vector<int32_t>& source, const std::vector<int32_t>& target, bool training) {
    Arena arena;
    const auto model = make_model(config, backend("reference"), arena, DType::f64, false);
    model->parameters().initialise(1);
    Context cx{.backend = backend("reference"), .arena = arena, .seed = 1, .training = training};
    const Batch batch{{source, Spans({0, int32_t(source.size())})}, {target, Spans({0, int32_t(target.size())})}, {0}};
    return values_of(model->loss(cx, batch, 0).log_prob);
  }

  ModelConfig config;
};

// At this rate all words of such short sentences are dropped (with this seed).
TEST_P(WordDropout, HidesSourceTokensInTraining) {
  config.dropout.source_words = 0.99;
  EXPECT_EQ(scores({5, 3, 8, 2}, {3, 5, 2}, true), scores({6, 7, 9, 2}, {3, 5, 2}, true));
  EXPECT_NE(scores({5, 3, 8, 2}, {3, 5, 2}, false), scores({6, 7, 9, 2}, {3, 5, 2}, false));
}

TEST_P(WordDropout, HidesTheTargetTokensThatTheDecoderReads) {
  config.dropout.target_words = 0.99;
  EXPECT_EQ(scores({5, 3, 8, 2}, {3, 5, 2}, true).back(), scores({5, 3, 8, 2}, {4, 6, 2}, true).back());
  EXPECT_NE(scores({5, 3, 8, 2}, {3, 5, 2}, false).back(), scores({5, 3, 8, 2}, {4, 6, 2}, false).back());
  EXPECT_NE(scores({5, 3, 8, 2}, {3, 5, 2}, true), scores({6, 7, 9, 2}, {3, 5, 2}, true));
}

INSTANTIATE_TEST_SUITE_P(Models, WordDropout, testing::Values(ModelType::transformer, ModelType::s2s),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace dragoman
