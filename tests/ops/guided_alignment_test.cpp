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
AttentionLinks links_of(const AttentionShape& shape) {
  std::vector<int32_t> queries, keys;
  std::vector<float> weights;
  for (int s = 0; s < shape.queries.sentences(); ++s)
    for (int64_t n = shape.queries[s].begin; n < shape.queries[s].end; ++n) {
      const int64_t length = shape.keys[s].end - shape.keys[s].begin;
      for (int64_t link = 0; link < (n % 3 == 2 ? 0 : n % 6 == 0 && length > 1 ? 2 : 1); ++link) {
        queries.push_back(int32_t(n));
        keys.push_back(int32_t((n + link) % length));
        weights.push_back(float(1 + n % 4) / 4);
      }
    }
  const auto M = int64_t(queries.size());
  return {int_tensor(queries, {M}), int_tensor(keys, {M}), float_tensor(weights, {M})};
}

OpCase guided_case(const std::string& name, const AttentionShape& shape, int64_t K) {
  OpCase c{name, {{"q", {shape.queries.rows(), K}}, {"k", {shape.keys.rows(), K}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    return Var(guided_alignment_loss(cx, in.at("q"), in.at("k"), shape, links_of(shape)));
  };
  return c;
}

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
  const AttentionLinks links{int_tensor({0}, {1}), int_tensor({0}, {1}), float_tensor({2}, {1})};
  const Tensor loss = guided_alignment_loss(t.cx, q, k, shape_of({1}, {2}), links);
  t.tape.backward(t.cx.backend, t.arena);
  EXPECT_NEAR(values_of(loss)[0], 2 * std::log(4.0), 1e-5);  // the weight counts as 1e-6 larger
  EXPECT_NEAR(values_of(q.node()->gradient)[0], 1.5 * log3, 1e-5);
  EXPECT_THAT(values_of(k.node()->gradient), ElementsAre(DoubleNear(-1.5, 1e-5), DoubleNear(1.5, 1e-5)));
}

TEST(GuidedAlignment, OfAWeightOfZeroIsFinite) {
  ByHand t("cpu", DType::f32);
  const Var q = t.var({1, 1}, {1}), k = t.var({2, 1}, {0, 1000});
  const AttentionLinks links{int_tensor({0}, {1}), int_tensor({0}, {1}), float_tensor({1}, {1})};
  EXPECT_NEAR(values_of(guided_alignment_loss(t.cx, q, k, shape_of({1}, {2}), links))[0], -std::log(1e-6), 1e-3);
  t.tape.backward(t.cx.backend, t.arena);
  EXPECT_TRUE(std::isfinite(values_of(q.node()->gradient)[0]));
}

TEST(GuidedAlignment, RefusesWhatDoesNotFit) {
  ByHand t;
  const Var q = t.random({2, 4}), k = t.random({3, 4});
  AttentionShape shape = shape_of({2}, {3});
  AttentionLinks links{int_tensor({0, 1}, {2}), int_tensor({0}, {1}), float_tensor({1, 1}, {2})};
  const auto message = [&] { return message_of([&] { guided_alignment_loss(t.cx, q, k, shape, links); }); };
  EXPECT_THAT(message(), HasSubstr("queries is (2), keys (1) and weights (2), expected (M) each"));
  links.keys = int_tensor({0, 1}, {2});
  EXPECT_EQ(message(), "");
  links.queries = int_tensor({0, 2}, {2});
  EXPECT_THAT(message(), HasSubstr("query 2 of 2 rows"));
  shape.heads = 2;
  EXPECT_THAT(message(), HasSubstr("expected one head with a dot product as its score, found 2 heads"));
}

}  // namespace
}  // namespace dragoman
