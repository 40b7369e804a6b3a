#include "explain/rollout.h"

#include <gmock/gmock.h>

#include <numeric>

namespace dragoman {
namespace {

using testing::ElementsAre;
using Site = AttentionSite;

AttentionMap map(Site site, int layer, int64_t keys, std::vector<float> weights) {
  const auto queries = int64_t(weights.size()) / keys;
  return {"some", site, layer, queries, keys, {{0, std::move(weights)}}};
}

// (A₁ + I)/2 = (1 0; ¼ ¾) and (A₂ + I)/2 = (¾ ¼; 0 1), whose product is (13/16 3/16; ¼ ¾).
TEST(Rollout, IsTheProductOfWhatLayersPassOn) {
  const auto rolled =
      rollout({map(Site::encoder_self, 0, 2, {1, 0, 0.5f, 0.5f}), map(Site::encoder_self, 1, 2, {0.5f, 0.5f, 0, 1})});
  ASSERT_EQ(rolled.size(), 2u);
  EXPECT_THAT(rolled[0].heads[0].weights, ElementsAre(1, 0, 0.25f, 0.75f));
  EXPECT_THAT(rolled[1].heads[0].weights, ElementsAre(0.8125f, 0.1875f, 0.25f, 0.75f));
}

TEST(Rollout, FollowsTheMeanOfHeads) {
  AttentionMap two = map(Site::encoder_self, 0, 2, {1, 0, 1, 0});
  two.heads.push_back({1, {1, 0, 0, 1}});
  EXPECT_THAT(rollout({two})[0].heads[0].weights, ElementsAre(1, 0, 0.25f, 0.75f));
}

// Two source tokens, two decoder inputs. The second decoder vector keeps half and takes half of the first: (½ ½).
// Then cross-attention halves that and adds half of its row's mixture of encoder vectors.
TEST(Rollout, OfADecoderSharesWhatWasReadWithTheSource) {
  const auto rolled = rollout({map(Site::encoder_self, 0, 2, {0, 1, 0, 1}),  // known: (½ ½; 0 1)
                               map(Site::decoder_self, 0, 2, {1, 0, 1, 0}), map(Site::cross, 0, 2, {1, 0, 0, 1})});
  EXPECT_THAT(rolled[1].heads[0].weights, ElementsAre(0.5f, 0, 0.25f, 0.25f));
  EXPECT_THAT(rolled[2].heads[0].weights, ElementsAre(0.25f, 0.25f, 0, 0.5f));
}

TEST(Rollout, LeavesInPlaceWhatSeesNothing) {
  const auto rolled = rollout({map(Site::encoder_self, 0, 1, {1}), map(Site::decoder_self, 0, 2, {1, 0, 0, 1}),
                               map(Site::cross, 0, 1, {0.0f, 1.0f})});
  EXPECT_THAT(rolled[1].heads[0].weights, ElementsAre(1, 0, 0, 0.5f));
  EXPECT_THAT(rolled[2].heads[0].weights, ElementsAre(0, 0.5f));
}

TEST(Rollout, OfADecoderHasRowsThatTogetherSumToOneAfterEachLayer) {
  const auto rolled = rollout(
      {map(Site::encoder_self, 0, 3, {0.2f, 0.3f, 0.5f, 0.1f, 0.9f, 0, 1, 0, 0}),
       map(Site::decoder_self, 0, 2, {1, 0, 0.3f, 0.7f}), map(Site::cross, 0, 3, {0.2f, 0.2f, 0.6f, 0, 1, 0}),
       map(Site::decoder_self, 1, 2, {1, 0, 0.9f, 0.1f}), map(Site::cross, 1, 3, {0.5f, 0.25f, 0.25f, 0, 0.5f, 0.5f})});
  const auto row_sum = [](const AttentionMap& m, int64_t row) {
    const auto begin = m.heads[0].weights.begin() + row * m.keys;
    return std::accumulate(begin, begin + m.keys, 0.0);
  };
  for (const size_t layer : {1, 3})
    for (const int64_t row : {0, 1})
      EXPECT_NEAR(row_sum(rolled[layer], row) + row_sum(rolled[layer + 1], row), 1, 1e-6);
}

}  // namespace
}  // namespace dragoman
