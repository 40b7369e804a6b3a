#include "ops/attention.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/linear.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

struct AttentionCase {
  std::string name;
  std::vector<int32_t> queries, keys;  // rows of each sentence
  int heads = 1;
  int64_t key_size = 3, value_size = 3;  // of a head
  Visibility visible = {};
  double rate = 0;
  Score score = Score::scaled_dot;
  int64_t reach = -1;        // of a distance bias; -1: no bias
  bool shared = false;       // one bias for all queries
  int64_t value_reach = -1;  // of vectors of distances for values; -1: none
};

AttentionShape shape_of(Context& cx, const AttentionCase& a) {
  AttentionShape shape{Spans::of_lengths(a.queries), Spans::of_lengths(a.keys), a.heads, a.visible, a.score, {}};
  shape.dropout = cx.dropout(a.rate, positions_of(shape.queries));
  return shape;
}

OpCase attention_case(const AttentionCase& a) {
  const int64_t nq = Spans::of_lengths(a.queries).rows(), nk = Spans::of_lengths(a.keys).rows();
  const int64_t key_cols = a.heads * a.key_size, value_cols = a.heads * a.value_size;
  OpCase c{a.name, {{"q", {nq, key_cols}}, {"k", {nk, key_cols}}, {"v", {nk, value_cols}}}};
  if (a.score == Score::additive) c.inputs.push_back({"vector", {key_cols}});
  if (a.reach >= 0) c.inputs.push_back({"bias", {a.shared ? 1 : nq, a.heads * (2 * a.reach + 1)}});
  if (a.value_reach >= 0) c.inputs.push_back({"values", {a.value_size, 2 * a.value_reach + 1}});
  c.op = [a](Context& cx, const OpInputs& in) {
    const auto optional = [&](const char* name) { return in.contains(name) ? in.at(name) : Var(); };
    return attention(cx, in.at("q"), in.at("k"), in.at("v"), shape_of(cx, a),
                     {optional("bias"), optional("vector"), optional("values")});
  };
  if (nq * nk > 10'000) c.differences = 3;
  return c;
}

// q, k and v as columns of one matrix, as a single linear layer computes them.
OpCase self_attention_case(const AttentionCase& a) {
  const int64_t N = Spans::of_lengths(a.queries).rows(), D = a.heads * a.key_size;
  OpCase c{a.name, {{"x", {N, 5}}, {"w", {3 * D, 5}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    const Var qkv = linear(cx, in.at("x"), in.at("w"), Var());
    return attention(cx, columns(qkv, 0, D), columns(qkv, D, D), columns(qkv, 2 * D, D), shape_of(cx, a));
  };
  return c;
}

// One value as q, k and v: its gradient is the sum of three.
OpCase shared_case() {
  return {"one value as query key and value", {{"x", {21, 4}}}, [](Context& cx, const OpInputs& in) {
            const Spans spans({0, 20, 21});
            const Var& x = in.at("x");
            return attention(cx, x, x, x, {spans, spans, 2});
          }};
}

const std::vector<int32_t> none{}, one{1}, few{3, 1, 17}, many{1, 2, 3, 5, 8, 13, 21}, uneven{5, 33, 2}, full{500};

INSTANTIATE_TEST_SUITE_P(
    Attention, OpCheck,
    testing::ValuesIn(std::vector{
        attention_case({"no sentences", none, none}),
        attention_case({"one key", one, one}),
        attention_case({"self", few, few, 2}),
        attention_case({"causal", few, few, 2, 3, 3, {.causal = true}}),
        attention_case({"window", few, few, 2, 3, 3, {.window = 2}}),
        attention_case({"causal window", few, few, 2, 3, 3, {.causal = true, .window = 3}}),
        attention_case({"window in a long sentence", full, full, 1, 2, 2, {.window = 20}}),
        attention_case({"keys three places apart", few, {1, 1, 6}, 2, 3, 3, {.causal = true, .stride = 3}}),
        attention_case({"keys four places apart", {67, 1}, {17, 1}, 2, 5, 3, {.causal = true, .stride = 4}, 0.2}),
        attention_case({"distance bias", few, few, 3, 3, 3, {}, 0, Score::scaled_dot, 3}),
        attention_case({"causal distance bias", few, few, 2, 3, 3, {.causal = true}, 0.1, Score::dot, 2}),
        attention_case({"bias of one column", few, uneven, 2, 3, 3, {}, 0, Score::scaled_dot, 0}),
        attention_case({"unscaled", few, uneven, 2, 5, 3, {}, 0, Score::dot}),
        attention_case({"additive", few, uneven, 2, 5, 3, {}, 0, Score::additive}),
        attention_case({"additive causal with dropout", few, few, 3, 17, 4, {.causal = true}, 0.2, Score::additive}),
        attention_case({"additive window with bias", many, many, 2, 4, 4, {.window = 3}, 0, Score::additive, 2}),
        attention_case({"additive without sentences", none, none, 2, 3, 3, {}, 0, Score::additive}),
        attention_case({"additive with a sentence that has no keys", few, {4, 0, 3}, 2, 3, 3, {}, 0, Score::additive}),
        attention_case({"cross", few, uneven, 2}),
        attention_case({"cross with a sentence that has no keys", few, {4, 0, 3}, 2}),
        attention_case({"cross window beyond the keys", uneven, few, 1, 3, 3, {.window = 1}}),
        attention_case({"values wider than keys", few, uneven, 2, 3, 17}),
        attention_case({"keys wider than values", few, uneven, 2, 33, 1}),
        attention_case({"dropout of weights", few, uneven, 2, 3, 5, {}, 0.3}),
        attention_case({"causal with dropout", many, many, 3, 4, 4, {.causal = true}, 0.2}),
        attention_case({"more keys than a group of the mask", {2}, {150}, 2, 3, 3, {}, 0.5}),
        attention_case({"heads of 64", {18, 1}, {16, 31}, 2, 64, 64}),
        attention_case(
            {"heads of 20 for several blocks", {70, 3, 130}, {70, 3, 130}, 2, 20, 20, {.causal = true}, 0.1}),
        attention_case({"cross for several blocks", {70, 130}, {131, 40}, 1, 32, 24, {}, 0.1}),
        attention_case({"a window for several blocks", {130}, {130}, 1, 16, 16, {.window = 9}}),
        attention_case({"heads of 96", {18, 1}, {16, 35}, 1, 96, 96, {}, 0.1}),
        attention_case({"a long sentence", full, full, 1, 2, 2, {.causal = true}}),
        self_attention_case({"columns of one matrix", many, many, 2}),
        self_attention_case({"causal columns of one matrix", few, few, 3, 4, 4, {.causal = true}, 0.1}),
        shared_case(),
    }),
    name_of_case);

// Scores (0, ln 3) are weights (1/4, 3/4): 4/4 + 8·3/4 = 7. A second query, 0, gives the mean.
struct TwoKeys : testing::Test {
  ByHand t;
  Spans spans{std::vector<int32_t>{0, 2}};
  Var k = t.var({2, 1}, {0, std::log(3.0)}), v = t.var({2, 1}, {4, 8});

  std::vector<double> attend(const std::vector<double>& q, const Visibility& visible, const ScoreInputs& score = {}) {
    return values_of(attention(t.cx, t.var({2, 1}, q), k, v, {spans, spans, 1, visible}, score));
  }
};
const auto near = [](std::vector<double> y) { return Pointwise(DoubleNear(1e-14), y); };

TEST_F(TwoKeys, WeighValuesByTheSoftmaxOfTheirScores) { EXPECT_THAT(attend({1, 0}, {}), near({7, 6})); }

TEST_F(TwoKeys, AreSeenUpToTheQueryWhenCausal) { EXPECT_THAT(attend({1, 1}, Visibility::past()), near({4, 7})); }

// Key 1 is at position 2, so queries 0 and 1 do not see it.
TEST_F(TwoKeys, AreSeenFromTheirPositionOnWhenTheyAreStridesApart) {
  const AttentionShape shape{Spans({0, 3}), spans, 1, {.causal = true, .stride = 2}};
  EXPECT_THAT(values_of(attention(t.cx, t.var({3, 1}, {1, 1, 1}), k, v, shape)), near({4, 4, 7}));
}

TEST_F(TwoKeys, AreSeenWithinTheWindow) { EXPECT_THAT(attend({1, 1}, {.window = 0}), near({4, 8})); }

TEST_F(TwoKeys, AddTheBiasOfTheirDistance) {
  const Var bias = t.var({2, 3}, {0, 0, std::log(3.0), std::log(7.0), 0, 0});  // distances -1, 0, 1
  EXPECT_THAT(attend({0, 0}, {}, {.bias = bias}), near({7, 4.5}));
  const Var constant(tensor_of(t.arena, {1, 3}, {std::log(7.0), 0, std::log(3.0)}));
  EXPECT_THAT(attend({0, 0}, {}, {.bias = constant}), near({7, 4.5}));
}

TEST_F(TwoKeys, AddTheVectorOfTheirDistanceToTheirValues) {
  const Var table = t.var({1, 3}, {1, 2, 5});  // distances -1, 0, 1
  EXPECT_THAT(attend({1, 0}, {}, {.distance_values = table}), near({7 + 2 / 4. + 5 * 3 / 4., 6 + 1 / 2. + 2 / 2.}));
}

TEST(Attention, DividesScoresByTheRootOfTheKeySize) {
  ByHand t;
  const Var q = t.var({1, 4}, {2, 0, 0, 0}), k = t.var({2, 4}, {0, 0, 0, 0, std::log(3.0), 0, 0, 0}),
            v = t.var({2, 1}, {4, 8});
  EXPECT_NEAR(values_of(attention(t.cx, q, k, v, {Spans({0, 1}), Spans({0, 2})}))[0], 7, 1e-14);
}

// tanh(q + k) = (0, 1/2), times 2 ln 3 = (0, ln 3): weights (1/4, 3/4).
TEST(Attention, ScoresAdditivelyWithAVector) {
  ByHand t;
  const Var q = t.var({1, 1}, {0.25}), k = t.var({2, 1}, {-0.25, std::atanh(0.5) - 0.25}), v = t.var({2, 1}, {4, 8});
  const AttentionShape shape{Spans({0, 1}), Spans({0, 2}), 1, {}, Score::additive, {}};
  EXPECT_NEAR(values_of(attention(t.cx, q, k, v, shape, {.vector = t.var({1}, {2 * std::log(3.0)})}))[0], 7, 1e-14);
}

TEST(Attention, LeavesDotProductsAloneThatAreNotToBeScaled) {
  ByHand t;
  const Var q = t.var({1, 4}, {1, 0, 0, 0}), k = t.var({2, 4}, {0, 0, 0, 0, std::log(3.0), 0, 0, 0}),
            v = t.var({2, 1}, {4, 8});
  const AttentionShape shape{Spans({0, 1}), Spans({0, 2}), 1, {}, Score::dot, {}};
  EXPECT_NEAR(values_of(attention(t.cx, q, k, v, shape))[0], 7, 1e-14);
}

// Two sentences and heads: the rows of each matrix (nq,nk) sum to 1, and the matrix times v is y.
TEST(Attention, ReturnsItsWeightsOnRequest) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Spans queries({0, 3, 20}), keys({0, 2, 21});
    const AttentionShape shape{queries, keys, 2, {.window = 5}, Score::scaled_dot, {}};
    const Var q = t.random({20, 6}), k = t.random({21, 6}, 1), v = t.random({21, 2}, 2);
    Backend::Attention a{t.empty({20, 2}), t.empty({20, 2}), q, k, v, {}, {}, shape, {}, {}};
    a.scratch = t.cx.scratch(t.cx.backend.attention_scratch(shape, 3, 1));
    a.weights = t.empty({2 * (3 * 2 + 17 * 19)});
    t.cx.backend.attention(a);
    const auto weights = values_of(a.weights), y = values_of(a.y), values = values_of(v);
    size_t at = 0;
    for (int s = 0; s < 2; ++s)
      for (int h = 0; h < 2; ++h)
        for (int64_t i = queries[s].begin; i < queries[s].end; ++i) {
          double sum = 0, out = 0;
          for (int64_t j = keys[s].begin; j < keys[s].end; ++j, ++at) {
            sum += weights[at];
            out += weights[at] * values[j * 2 + h];
          }
          EXPECT_NEAR(sum, 1, 1e-5) << name;
          EXPECT_NEAR(out, y[i * 2 + h], 1e-5) << name;
        }
    EXPECT_EQ(at, weights.size());
    EXPECT_EQ(weights[2 * 6 + 18], 0) << name << " beyond the window";
  }
}

TEST(Attention, GivesZeroToAQueryThatSeesNoKey) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var q = t.random({4, 2}), k = t.random({1, 2}), v = t.random({1, 2});
    const Var y = attention(t.cx, q, k, v, {Spans({0, 4}), Spans({0, 1}), 1, {.window = 1}});
    const std::vector<double> values = values_of(y);
    EXPECT_THAT(std::vector(values.begin() + 4, values.end()), ElementsAre(0, 0, 0, 0)) << name;
    t.backward(y, normals(8, 3));
    const std::vector<double> dq = values_of(q.node()->gradient);
    EXPECT_THAT(std::vector(dq.begin() + 4, dq.end()), ElementsAre(0, 0, 0, 0)) << name;
  }
}

// A broken state must show. This is the NaN that GPUs produce: all bits of its fraction are set.
TEST(Attention, PassesOnWhatIsNoNumber) {
  const auto numbers = [](const std::vector<double>& values, Range of) {
    return std::count_if(values.begin() + of.begin, values.begin() + of.end, [](double v) { return !std::isnan(v); });
  };
  const auto check = [&](const char* name) {
    constexpr int64_t N = 20, K = 16;
    ByHand t(test_backend(name), DType::f32);
    std::vector<double> broken = normals(N * K, 1);
    broken[3 * K + 5] = std::bit_cast<double>(~uint64_t{0} >> 1);
    const Spans spans({0, N});
    {
      const Var q = t.var({N, K}, broken), k = t.random({N, K}, 2), v = t.random({N, K}, 3);
      const Var y = attention(t.cx, q, k, v, {spans, spans, 1});
      EXPECT_EQ(numbers(values_of(y), {0, N * K}), (N - 1) * K) << name << ", y of q";
      EXPECT_EQ(numbers(values_of(y), {3 * K, 4 * K}), 0) << name << ", y of q";
      t.backward(y, normals(N * K, 4));
      EXPECT_EQ(numbers(values_of(q.node()->gradient), {3 * K, 4 * K}), 0) << name << ", dq";
      EXPECT_EQ(numbers(values_of(k.node()->gradient), {0, N * K}), 0) << name << ", dk";
      EXPECT_EQ(numbers(values_of(v.node()->gradient), {0, N * K}), 0) << name << ", dv";
    }
    const Var y = attention(t.cx, t.random({N, K}, 1), t.random({N, K}, 2), t.var({N, K}, broken), {spans, spans, 1});
    EXPECT_EQ(numbers(values_of(y), {0, N * K}), N * (K - 1)) << name << ", y of v";
  };
  check("reference"), check("gpu kernels on the host");
  for_each_target([&] { check("cpu"); });
}

// With equal scores and one-hot values, y is the mask divided by the number of keys.
TEST(Attention, DropsTheSameWeightsOnEveryBackend) {
  const auto kept = [](const char* name) {
    ByHand t(name, DType::f32);
    constexpr int64_t N = 140;
    std::vector<double> identity(N * N);
    for (int64_t i = 0; i < N; ++i) identity[i * (N + 1)] = 1;
    const Spans spans({0, N});
    AttentionShape shape{spans, spans};
    shape.dropout = t.cx.dropout(0.4, positions_of(spans));
    const Var zero = t.var({N, 1}, std::vector<double>(N)), v = t.var({N, N}, identity);
    std::vector<double> mask = values_of(attention(t.cx, zero, zero, v, shape));
    for (double& m : mask) m = m != 0;
    return mask;
  };
  const std::vector<double> expected = kept("reference");
  for_each_target([&] { EXPECT_EQ(kept("cpu"), expected); });
}

TEST(Attention, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Spans three({0, 3}), five({0, 5});
  const Var q = t.random({3, 4}), k = t.random({5, 4}), v = t.random({5, 6});
  const auto attend = [&](Var q, Var k, Var v, AttentionShape shape) {
    return error_of([&] { attention(t.cx, q, k, v, shape); });
  };
  EXPECT_THAT(attend(q, t.random({5, 2}), v, {three, five, 2}), AllOf(HasSubstr("(3,4)"), HasSubstr("(5,2)")));
  EXPECT_THAT(attend(q, k, t.random({5, 5}), {three, five, 2}), AllOf(HasSubstr("(5,5)"), HasSubstr("H = 2")));
  EXPECT_THAT(attend(q, k, t.random({3, 6}), {three, five, 2}), AllOf(HasSubstr("(5,4)"), HasSubstr("(3,6)")));
  EXPECT_THAT(attend(q, k, v, {five, five, 2}), AllOf(HasSubstr("(3,4)"), HasSubstr("5")));
  EXPECT_THAT(attend(q, k, v, {three, Spans({0, 1, 5}), 2}), AllOf(HasSubstr("1 sentences"), HasSubstr("2 of keys")));
  EXPECT_THAT(attend(q, k, v, {three, five, 2, {}, Score::dot, {.rate = 0.1, .positions = positions_of(five)}}),
              AllOf(HasSubstr("(5,2)"), HasSubstr("(3,2)")));
  const auto score = [&](Score kind, const ScoreInputs& inputs) {
    return error_of([&] { attention(t.cx, q, k, v, {three, five, 2, {}, kind, {}}, inputs); });
  };
  EXPECT_THAT(score(Score::dot, {.bias = t.random({3, 3})}), AllOf(HasSubstr("(3,3)"), HasSubstr("(3 or 1,H*(2R+1))")));
  EXPECT_THAT(score(Score::dot, {.bias = t.random({2, 6})}), HasSubstr("(2,6)"));
  EXPECT_THAT(score(Score::additive, {.vector = t.random({3})}), AllOf(HasSubstr("(3)"), HasSubstr("(4)")));
  EXPECT_THAT(score(Score::additive, {}), HasSubstr("(4)"));
  EXPECT_THAT(score(Score::dot, {.vector = t.random({4})}), HasSubstr("not additive"));
  EXPECT_THAT(score(Score::dot, {.distance_values = t.random({2, 2})}), HasSubstr("for values are (2,2)"));
}

// The gradient is the sum over the queries.
INSTANTIATE_TEST_SUITE_P(
    AttentionWithABiasOfAllQueries, OpCheck,
    testing::ValuesIn(std::vector{
        attention_case({"shared distance bias", few, few, 3, 3, 3, {}, 0, Score::dot, 3, true}),
        attention_case({"shared causal bias", many, many, 2, 4, 4, {.causal = true}, 0.1, Score::scaled_dot, 5, true}),
        attention_case({"shared bias of no queries", none, none, 2, 3, 3, {}, 0, Score::dot, 2, true}),
    }),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    AttentionWithValuesOfDistances, OpCheck,
    testing::ValuesIn(std::vector{
        attention_case({"of some", few, few, 2, 3, 4, {}, 0, Score::scaled_dot, -1, false, 2}),
        attention_case({"of one", few, few, 2, 3, 3, {.window = 2}, 0, Score::dot, -1, false, 0}),
        attention_case({"with bias", many, many, 2, 3, 3, {.causal = true}, 0.2, Score::scaled_dot, 2, false, 3}),
        attention_case({"for several blocks", {130}, {130}, 2, 20, 18, {}, 0.1, Score::scaled_dot, -1, false, 20}),
    }),
    name_of_case);

// Kernels compute two vectors of columns at a time. These heads fill one or two vectors and part of another.
INSTANTIATE_TEST_SUITE_P(
    AttentionOfOddHeads, OpCheck,
    testing::ValuesIn(std::vector{
        attention_case({"17 and 33", few, uneven, 2, 17, 33, {}, 0.3}),
        attention_case({"17 and 40 and a window for several blocks", {130}, {130}, 2, 17, 40, {.window = 9}, 0.1}),
    }),
    name_of_case);

}  // namespace
}  // namespace dragoman
