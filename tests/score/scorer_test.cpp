#include "score/scorer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "tests/special_ids.h"
#include "tests/toy_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

class Scores : public testing::Test {
 protected:
  std::vector<double> of(std::span<const IdPair> pairs, int64_t batch_words = 4096) {
    return score_pairs({backend("cpu"), arena, packed}, *model, pairs, batch_words);
  }

  // Sentences of up to 40 pieces on either side, now and then a long one.
  static std::vector<IdPair> random_pairs(int count) {
    PhiloxSequence random(7, 0);
    const auto sentence = [&] {
      const auto length = random.below(20) == 0 ? 150 : random.below(40);
      std::vector<int32_t> ids(length);
      for (int32_t& id : ids) id = 3 + int32_t(random.below(330));
      ids.push_back(eos_id);
      return ids;
    };
    std::vector<IdPair> pairs(count);
    for (IdPair& pair : pairs) pair = {sentence(), sentence()};
    return pairs;
  }

  Arena arena;
  std::unique_ptr<Model> model = toy_model(arena, 1);
  PackedWeights packed = model->parameters().pack();
};

// log-softmax of the logits at the label, in double precision.
double log_prob(const Tensor& logits, int64_t row, int32_t label) {
  const float* z = logits.view<float>().row(row);
  const double top = *std::max_element(z, z + logits.cols());
  double sum = 0;
  for (int64_t v = 0; v < logits.cols(); ++v) sum += std::exp(z[v] - top);
  return z[label] - top - std::log(sum);
}

// In 8 bits too, where a long target takes several chunks of logits.
TEST_F(Scores, AreSumsOfTheLogSoftmaxAtEachTargetToken) {
  auto pairs = random_pairs(3);
  while (pairs[0].target.size() < 300) pairs[0].target.insert(pairs[0].target.begin(), 7);
  for (const DType type : {DType::f32, DType::i8}) {
    packed = model->parameters().pack(type);
    const auto scores = of(pairs);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto packed_ids = [](const std::vector<int32_t>& ids) {
        return PackedIds{ids, Spans::of_lengths({int32_t(ids.size())})};
      };
      Context cx{.backend = backend("cpu"), .arena = arena, .packed = &packed};
      const Tensor logits = model->logits(cx, {packed_ids(pairs[i].source), packed_ids(pairs[i].target), {0}});
      double expected = 0;
      for (size_t t = 0; t < pairs[i].target.size(); ++t) expected += log_prob(logits, int64_t(t), pairs[i].target[t]);
      EXPECT_NEAR(scores[i], expected, 1e-5 * std::abs(expected)) << name_of(type);
    }
  }
}

// Over all pieces that may come next, p sums to 1 at the beginning, and to p(a) after a piece a.
TEST_F(Scores, AreProbabilities) {
  const auto sum_after = [&](std::vector<int32_t> begin) {
    std::vector<IdPair> pairs;
    begin.push_back(0);
    for (int32_t& next = begin.back(); next < model->config().target_vocabulary; ++next)
      pairs.push_back({{5, 6, eos_id}, begin});
    double sum = 0;
    for (const double score : of(pairs)) sum += std::exp(score);
    return sum;
  };
  EXPECT_NEAR(sum_after({}), 1, 1e-5);
  for (const int32_t a : {3, 100, 339}) {
    const std::vector<IdPair> alone = {{{5, 6, eos_id}, {a}}};
    EXPECT_NEAR(sum_after({a}) / std::exp(of(alone)[0]), 1, 1e-5) << a;
  }
}

TEST_F(Scores, DoNotDependOnTheBatchToTheBit) {
  const auto pairs = random_pairs(40);
  const auto expected = of(pairs);
  for (const int64_t words : {1, 17, 100, 1000, 1'000'000}) EXPECT_EQ(of(pairs, words), expected) << words;
}

TEST_F(Scores, DoNotDependOnTheOrderToTheBit) {
  const auto pairs = random_pairs(40);
  const auto expected = of(pairs);
  std::vector<size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  PhiloxSequence random(3, 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<IdPair> shuffled;
  for (const size_t i : order) shuffled.push_back(pairs[i]);
  const auto scores = of(shuffled, 300);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(scores[i], expected[order[i]]) << order[i];
}

TEST_F(Scores, OfNothingAreNone) { EXPECT_TRUE(of({}).empty()); }

TEST(EncodePairs, TurnsEmptyLinesIntoTheEndOfSentence) {
  const Vocabulary v = toy_vocabulary();
  const auto pairs = encode_pairs(v, v, frames_of({}), {{"", "Where"}, {"", " "}}, false);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_THAT(pairs[0].source, ElementsAre(eos_id));
  EXPECT_THAT(pairs[0].target, ElementsAre(eos_id));
  EXPECT_GT(pairs[1].source.size(), 1u);
  EXPECT_THAT(pairs[1].target, ElementsAre(eos_id));
}

// 265 and 279 as the Python package numbers them: tests/vocab/golden/expected.json.
TEST(EncodePairs, TakesGivenPiecesAsTheyAre) {
  const Vocabulary v = toy_vocabulary();
  const auto pairs = encode_pairs(v, v, frames_of({}), {{"▁W here"}, {"here </s>"}}, true);
  EXPECT_THAT(pairs[0].source, ElementsAre(265, 279, eos_id));
  EXPECT_THAT(pairs[0].target, ElementsAre(279, unk_id, eos_id)) << "a written </s> is text";
}

}  // namespace
}  // namespace dragoman
