#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "nn/positions.h"
#include "ops/attention.h"
#include "ops/linear.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

OpCase distances_case(const std::string& name, int64_t rows, int heads, int64_t K, int64_t R) {
  const auto op = [=](Context& cx, const OpInputs& in) {
    return distance_scores(cx, in.at("q"), in.at("table"), heads);
  };
  return {name, {{"q", {rows, heads * K}}, {"table", {2 * R + 1, K}}}, op};
}

// As in a layer, q is multiplied by both keys and distance vectors: both write its gradient.
OpCase relative_attention_case(const std::string& name, const std::vector<int32_t>& lengths, int heads, int64_t K) {
  const Spans spans = Spans::of_lengths(lengths);
  return {
      name,
      {{"x", {spans.rows(), 5}}, {"w", {3 * heads * K, 5}}, {"table", {7, K}}},
      [=](Context& cx, const OpInputs& in) {
        const Var qkv = linear(cx, in.at("x"), in.at("w"), Var());
        const Var q = columns(qkv, 0, heads * K), k = columns(qkv, heads * K, heads * K),
                  v = columns(qkv, 2 * heads * K, heads * K);
        return attention(cx, q, k, v, {spans, spans, heads}, {.bias = distance_scores(cx, q, in.at("table"), heads)});
      }};
}

OpCase bucket_case(const std::string& name, int heads, int64_t count, std::vector<int32_t> buckets) {
  const auto op = [=](Context& cx, const OpInputs& in) { return bucket_bias(cx, in.at("table"), buckets, 0.7); };
  return {name, {{"table", {heads, count}}}, op};
}

OpCase rotate_case(const std::string& name, const std::vector<int32_t>& lengths, int heads, int64_t K) {
  const Spans spans = Spans::of_lengths(lengths);
  return {name, {{"x", {spans.rows(), heads * K}}}, [=](Context& cx, const OpInputs& in) {
            Sinusoids table({.dim = K}, in.at("x").dtype());
            return rotate(cx, in.at("x"), table.table(cx.arena, cx.backend, spans.longest()), positions_of(spans),
                          heads);
          }};
}

INSTANTIATE_TEST_SUITE_P(DistanceScores, OpCheck,
                         testing::ValuesIn(std::vector{
                             distances_case("no rows", 0, 2, 3, 2),
                             distances_case("one row", 1, 1, 1, 0),
                             distances_case("heads", 33, 3, 17, 2),
                             relative_attention_case("in attention", {3, 1, 17}, 2, 3),
                         }),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(BucketBias, OpCheck,
                         testing::ValuesIn(std::vector{
                             bucket_case("one distance", 1, 1, {0}),
                             bucket_case("distances that share buckets", 3, 4, {2, 1, 0, 3, 3}),
                             bucket_case("a bucket without distances", 17, 5, {4, 1, 1, 1, 0, 1, 1, 1, 4}),
                         }),
                         name_of_case);

INSTANTIATE_TEST_SUITE_P(Rotate, OpCheck,
                         testing::ValuesIn(std::vector{
                             rotate_case("no rows", {}, 1, 2),
                             rotate_case("one pair", {1, 3}, 1, 2),
                             rotate_case("heads", {3, 1, 17}, 3, 34),
                             rotate_case("a long sentence", {500}, 2, 8),
                         }),
                         name_of_case);

// (1, 2) with distances (1, 0), (0, 1), (1, 1); the second head is (3, 4).
TEST(DistanceScores, MultiplyEachHeadWithTheVectorsOfDistances) {
  ByHand t;
  const Var q = t.var({1, 4}, {1, 2, 3, 4}), table = t.var({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_THAT(values_of(distance_scores(t.cx, q, table, 2)), ElementsAre(1, 2, 3, 3, 4, 7));
}

TEST(DistanceScores, RefuseShapesThatDoNotFitAndNameThem) {
  ByHand t;
  const auto scores = [&](const Var& q, const Var& table) {
    return error_of([&] { distance_scores(t.cx, q, table, 2); });
  };
  EXPECT_THAT(scores(t.random({3, 4}), t.random({3, 3})), AllOf(HasSubstr("(3,4)"), HasSubstr("(3,3)")));
  EXPECT_THAT(scores(t.random({3, 4}), t.random({4, 2})), HasSubstr("(4,2)"));
}

// Two heads with buckets of 1, 2 and of 10, 20; the distances -1 and 1 share the second bucket.
TEST(BucketBias, LooksUpEachHeadsNumberOfADistance) {
  ByHand t;
  const Var table = t.var({2, 2}, {1, 2, 10, 20});
  const std::vector<int32_t> buckets{1, 0, 1};
  const Var y = bucket_bias(t.cx, table, buckets, 0.5);
  EXPECT_THAT(values_of(y), ElementsAre(1, 0.5, 1, 10, 5, 10));
  t.backward(y, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(values_of(table.node()->gradient), ElementsAre(1, 2, 2.5, 5));
  EXPECT_THAT(error_of([&] {
                bucket_bias(t.cx, table, std::vector<int32_t>{0, 1}, 1);
              }),
              AllOf(HasSubstr("(2,2)"), HasSubstr("2 buckets")));
}

// One pair of columns has frequency 1: token p turns by p. A quarter turn of (1, 0) is (0, 1).
TEST(Rotate, TurnsAPairByItsToken) {
  ByHand t;
  const double quarter = std::numbers::pi / 2;
  const Tensor table = tensor_of(t.arena, {2, 2}, {0, 1, std::sin(quarter), std::cos(quarter)});
  const Var x = t.var({2, 2}, {1, 0, 1, 0});
  const Var y = rotate(t.cx, x, table, positions_of(Spans({0, 2})), 1);
  EXPECT_THAT(values_of(y), Pointwise(DoubleNear(1e-15), std::vector<double>{1, 0, 0, 1}));
}

// The purpose of the paper: products of a rotated query and key depend only on their distance.
TEST(Rotate, MakesProductsDependOnTheDistance) {
  ByHand t;
  constexpr int64_t K = 6, N = 9;
  std::vector<double> q, k;
  for (int64_t n = 0; n < N; ++n)
    for (int64_t c = 0; c < K; ++c) q.push_back(double(c) - 2), k.push_back(1 / double(c + 1));
  Sinusoids sinusoids({.dim = K}, DType::f64);
  const Tensor table = sinusoids.table(t.arena, t.cx.backend, N), positions = positions_of(Spans({0, N}));
  const auto Q = values_of(rotate(t.cx, t.var({N, K}, q), table, positions, 1)),
             R = values_of(rotate(t.cx, t.var({N, K}, k), table, positions, 1));
  const auto product = [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t c = 0; c < K; ++c) sum += Q[i * K + c] * R[j * K + c];
    return sum;
  };
  for (int64_t i = 0; i + 3 < N; ++i) EXPECT_NEAR(product(i, i + 3), product(0, 3), 1e-12);
  EXPECT_GT(std::abs(product(0, 3) - product(0, 4)), 1e-3);
}

TEST(Rotate, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const auto turn = [&](const Var& x, const Tensor& table, const Spans& spans) {
    return error_of([&] { rotate(t.cx, x, table, positions_of(spans), 2); });
  };
  EXPECT_THAT(turn(t.random({3, 6}), t.empty({3, 3}), Spans({0, 3})), AllOf(HasSubstr("(3,6)"), HasSubstr("even K")));
  EXPECT_THAT(turn(t.random({3, 8}), t.empty({3, 2}), Spans({0, 3})), AllOf(HasSubstr("(3,8)"), HasSubstr("(3,2)")));
  EXPECT_THAT(turn(t.random({3, 4}), t.empty({3, 2}), Spans({0, 2})), AllOf(HasSubstr("(2,2)"), HasSubstr("(3,2)")));
}

}  // namespace
}  // namespace dragoman
