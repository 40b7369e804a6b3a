#include "ops/guided_alignment.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

AttentionShape shape_of(const std::vector<int32_t>& queries, const std::vector<int32_t>& keys, int window = -1) {
  return {Spans::of_lengths(queries), Spans::of_lengths(keys), 1, {.window = window}, Score::scaled_dot, {}};
}

// Two of three queries have a link, every sixth has two.
std::vector<AttentionLink> links_of(const AttentionShape& shape) {
  std::vector<AttentionLink> links;
  for (int s = 0; s < shape.queries.sentences(); ++s)
    for (int64_t n = shape.queries[s].begin; n < shape.queries[s].end; ++n) {
      const Range keys = shape.keys[s];
      const int64_t length = keys.end - keys.begin;
      for (int64_t link = 0; link < (n % 3 == 2 ? 0 : n % 6 == 0 && length > 1 ? 2 : 1); ++link)
        links.push_back({int32_t(n), int32_t(keys.begin + (n + link) % length), float(1 + n % 4) / 4});
    }
  return links;
}

OpCase guided_case(const std::string& name, const AttentionShape& shape, int64_t K) {
  OpCase c{name, {{"q", {shape.queries.rows(), K}}, {"k", {shape.keys.rows(), K}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    return Var(guided_alignment_loss(cx, in.at("q"), in.at("k"), shape, links_of(shape)));
  };
  return c;
}

// The vector belongs to more heads than one, of which the first is guided.
OpCase additive_case(const std::string& name, AttentionShape shape, int64_t K, int64_t vector) {
  shape.score = Score::additive;
  OpCase c{name, {{"q", {shape.queries.rows(), K}}, {"k", {shape.keys.rows(), K}}, {"vector", {vector}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    return Var(guided_alignment_loss(cx, in.at("q"), in.at("k"), shape, links_of(shape), in.at("vector")));
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(AdditiveGuidedAlignment, OpCheck,
                         testing::Values(additive_case("no sentences", shape_of({}, {}), 3, 3),
                                         additive_case("one token", shape_of({1}, {1}), 1, 1),
                                         additive_case("two heads", shape_of({3, 1, 17}, {5, 9, 1}), 17, 34),
                                         additive_case("two groups", shape_of({9, 2}, {690, 60}), 5, 5),
                                         additive_case("in a window", shape_of({9}, {9}, 2), 3, 3)),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(GuidedAlignment, OpCheck,
                         testing::Values(guided_case("no sentences", shape_of({}, {}), 3),
                                         guided_case("one token", shape_of({1}, {1}), 1),
                                         guided_case("three sentences", shape_of({3, 1, 17}, {5, 9, 1}), 17),
                                         guided_case("long", shape_of({70, 33}, {40, 130}), 33),
                                         guided_case("in a window", shape_of({9}, {9}, 2), 3)),
                         name_of_case);

// Scores (0, ln 3) of K = 1: weights (1/4, 3/4). The loss of the first key, times 2, is 2 ln 4; its gradient of a score
// is 2 (a - onehot) = (-3/2, 3/2), and dq = Σ ds k.
TEST(GuidedAlignment, HasTheLossOfItsFormulaAndTheGradientOfTheSum) {
  ByHand t;
  const double log3 = std::log(3.0);
  const Var q = t.var({1, 1}, {1}), k = t.var({2, 1}, {0, log3});
  const Tensor loss = guided_alignment_loss(t.cx, q, k, shape_of({1}, {2}), {{0, 0, 2}});
  EXPECT_NEAR(values_of(loss)[0], 2 * std::log(4.0), 1e-12);
  EXPECT_NEAR(values_of(q.node()->gradient)[0], 1.5 * log3, 1e-12);
  EXPECT_THAT(values_of(k.node()->gradient), ElementsAre(DoubleNear(-1.5, 1e-12), DoubleNear(1.5, 1e-12)));
}

// Scores 2 tanh(0 + 0) = 0 and 2 tanh(0 + k) = ln 3: weights (1/4, 3/4). The gradients of the scores are (-3/2, 3/2),
// and dw = Σ ds tanh(q + k).
TEST(GuidedAlignment, OfAdditiveScoresHasTheGradientsOfItsFormula) {
  ByHand t;
  const double half = std::log(3.0) / 2;
  const Var q = t.var({1, 1}, {0}), k = t.var({2, 1}, {0, std::atanh(half)}), w = t.var({2}, {2, 7});
  AttentionShape shape = shape_of({1}, {2});
  shape.score = Score::additive;
  const Tensor loss = guided_alignment_loss(t.cx, q, k, shape, {{0, 0, 2}}, w);
  EXPECT_NEAR(values_of(loss)[0], 2 * std::log(4.0), 1e-12);
  const double slope = 2 * (1 - half * half);
  EXPECT_THAT(values_of(k.node()->gradient), ElementsAre(DoubleNear(-1.5 * 2, 1e-12), DoubleNear(1.5 * slope, 1e-12)));
  EXPECT_NEAR(values_of(q.node()->gradient)[0], 1.5 * slope - 3, 1e-12);
  EXPECT_THAT(values_of(w.node()->gradient), ElementsAre(DoubleNear(1.5 * half, 1e-12), 0));
}

// The gradient of a score is at most the weight of its links, however small the attention weight: it fits 16 bits.
TEST(GuidedAlignment, OfAKeyWithoutAttentionHasABoundedGradient) {
  for (const bool half : {false, true}) {
    ByHand t("cpu", DType::f32);
    RoundedWeights rounded{.type = DType::bf16};
    if (half) t.cx.rounded = &rounded;
    const Var q = t.var({1, 1}, {1}), k = t.var({2, 1}, {0, 1024});
    EXPECT_EQ(values_of(guided_alignment_loss(t.cx, q, k, shape_of({1}, {2}), {{0, 0, 0.5}}))[0], 512);
    EXPECT_EQ(values_of(q.node()->gradient)[0], 512);  // 0.5 (1024 - 0)
    EXPECT_THAT(values_of(k.node()->gradient), ElementsAre(-0.5, 0.5));
  }
}

TEST(GuidedAlignment, LeavesOutLinksThatTheWindowHides) {
  ByHand t;
  const Var q = t.random({5, 2}, 1), k = t.random({5, 2}, 2);
  const AttentionShape shape = shape_of({5}, {5}, 1);
  const auto with = values_of(guided_alignment_loss(t.cx, q, k, shape, {{0, 1, 1}, {0, 2, 1}, {4, 0, 1}}));
  EXPECT_EQ(with, values_of(guided_alignment_loss(t.cx, q, k, shape, {{0, 1, 1}})));
}

TEST(GuidedAlignment, RefusesWhatDoesNotFit) {
  ByHand t;
  const Var q = t.random({2, 4}), k = t.random({3, 4});
  AttentionShape shape = shape_of({2}, {3});
  std::vector<AttentionLink> links = {{0, 0, 1}, {1, 2, 1}};
  const auto message = [&] { return error_of([&] { guided_alignment_loss(t.cx, q, k, shape, links); }); };
  EXPECT_EQ(message(), "");
  links.push_back({1, 3, 1});
  EXPECT_THAT(message(), HasSubstr("a link of query 1 and key 3, but there are 2 and 3"));
  shape.heads = 2;
  EXPECT_THAT(message(), HasSubstr("expected one head, found 2"));
  shape = shape_of({2}, {3});
  shape.score = Score::additive;
  EXPECT_THAT(message(), HasSubstr("the vector of the score is (), expected at least 4 elements"));
  shape = shape_of({3}, {3});
  EXPECT_THAT(message(), HasSubstr("q is (2,4) and k (3,4), expected (3,K) and (3,K)"));
}

}  // namespace
}  // namespace dragoman
