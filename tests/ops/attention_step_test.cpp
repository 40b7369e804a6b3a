#include <gmock/gmock.h>

#include <cmath>

#include "ops/attention.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

struct StepCase {
  std::string name;
  std::vector<int32_t> lengths;  // keys of each row
  int heads = 2;
  int64_t key_size = 3, value_size = 3;
  bool table = false;  // keys are found through a table, here in reverse order, else from `begin` on
  Score score = Score::scaled_dot;
  int window = -1;
  int64_t reach = -1;        // of a distance bias; -1: no bias
  int64_t value_reach = -1;  // of vectors of distances for values; -1: none
};

StepKeys keys_of(const StepCase& s, int64_t cache_rows) {
  const auto R = int64_t(s.lengths.size());
  StepKeys keys{.length = int_tensor(s.lengths, {R})};
  std::vector<int32_t> begin(R), table(R * cache_rows);
  for (int64_t r = 0; r < R; ++r) {
    begin[r] = int32_t(cache_rows - s.lengths[r]);
    for (int64_t t = 0; t < s.lengths[r]; ++t) table[r * cache_rows + t] = int32_t(cache_rows - 1 - t);
  }
  if (s.table) keys.table = int_tensor(table, {R, cache_rows});
  if (!s.table) keys.begin = int_tensor(begin, {R});
  return keys;
}

OpCase step_case(const StepCase& s) {
  const auto R = int64_t(s.lengths.size());
  int32_t longest = 1;
  for (int32_t n : s.lengths) longest = std::max(longest, n);
  const int64_t C = longest + 2;
  OpCase c{s.name,
           {{"q", {R, s.heads * s.key_size}}, {"k", {C, s.heads * s.key_size}}, {"v", {C, s.heads * s.value_size}}}};
  if (s.score == Score::additive) c.inputs.push_back({"vector", {s.heads * s.key_size}});
  if (s.reach >= 0) c.inputs.push_back({"bias", {R, s.heads * (2 * s.reach + 1)}});
  if (s.value_reach >= 0) c.inputs.push_back({"values", {s.value_size, 2 * s.value_reach + 1}});
  c.op = [=, keys = keys_of(s, C)](Context& cx, const OpInputs& in) {
    const auto optional = [&](const char* name) { return in.contains(name) ? in.at(name) : Var(); };
    return attention_step(cx, in.at("q"), in.at("k"), in.at("v"), {keys, longest, s.heads, s.window, s.score},
                          {optional("bias"), optional("vector"), optional("values")});
  };
  c.differences = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    AttentionStep, OpCheck,
    testing::ValuesIn(std::vector{
        step_case({"no rows", {}}),
        step_case({"one key", {1}}),
        step_case({"rows of many lengths", {1, 3, 17, 33, 16}}),
        step_case({"a row without keys", {3, 0, 2}}),
        step_case({"through a table", {1, 3, 17, 33, 16}, 2, 3, 3, true}),
        step_case({"through a table with wide heads", {5, 2}, 2, 33, 17, true}),
        step_case({"values wider than keys", {5, 2}, 3, 1, 64}),
        step_case({"values that a warp reads in two goes", {40, 2}, 2, 4, 132}),
        step_case({"500 keys", {500, 1}, 1, 8, 8}),
        step_case({"eights in 4 lanes", {1, 0, 31, 32, 33}, 5, 32, 24, true}),
        step_case({"eights in 8 lanes", {1, 65, 17, 32}, 3, 64, 40, true}),
        step_case({"eights in 16 lanes", {1, 17, 16, 0}, 1, 72, 128}),
        step_case({"eights in 32 lanes", {1, 9, 8}, 2, 256, 136}),
        step_case({"more eights than a warp reads at once", {3, 40}, 1, 264, 8}),
        step_case({"eights in a window", {1, 40, 17}, 2, 16, 8, true, Score::dot, 4}),
        step_case({"eights with a bias", {1, 40, 17}, 2, 8, 16, false, Score::scaled_dot, 9, 5}),
        step_case({"unscaled", {5, 2}, 2, 7, 3, false, Score::dot}),
        step_case({"additive", {1, 3, 17, 33, 16}, 2, 17, 3, true, Score::additive}),
        step_case({"window", {1, 3, 17, 33, 0}, 2, 3, 3, true, Score::scaled_dot, 4}),
        step_case({"bias", {1, 3, 17, 33, 16}, 2, 3, 3, false, Score::scaled_dot, -1, 5}),
        step_case({"distance values", {1, 3, 17, 0, 40}, 3, 8, 16, true, Score::scaled_dot, -1, 5, 4}),
    }),
    name_of_case);

// Scores (0, ln 3) are weights (1/4, 3/4): 4/4 + 8·3/4 = 7. Row 0 of the cache is not used.
TEST(AttentionStep, FindsItsKeysFromBeginOnOrThroughTheTable) {
  ByHand t;
  const Var q = t.var({1, 1}, {1});
  const Tensor k = tensor_of(t.arena, {3, 1}, {99, 0, std::log(3.0)}), v = tensor_of(t.arena, {3, 1}, {99, 4, 8});
  const Tensor two = int_tensor({2}, {1});
  const auto step = [&](const StepKeys& keys) { return values_of(attention_step(t.cx, q, k, v, {keys, 2, 1}))[0]; };
  EXPECT_NEAR(step({.length = two, .begin = int_tensor({1}, {1})}), 7, 1e-14);
  EXPECT_NEAR(step({.length = two, .table = int_tensor({2, 1}, {1, 2})}), 7, 1e-14);
}

// This makes decoding with a cache equal to a full forward pass. A query that is not the last gives its position.
TEST(AttentionStep, EqualsARowOfAttentionOverAWholeSentence) {
  constexpr int64_t N = 37, H = 3, K = 5, V = 9, reach = 6;
  for (const char* name : {"reference", "cpu"})
    for (Score score : {Score::scaled_dot, Score::dot, Score::additive})
      for (int window : {-1, 7})
        for (int32_t position : {int32_t(N) - 1, 11}) {
          ByHand t(name, DType::f32);
          const Var q = t.random({N, H * K}), k = t.random({N, H * K}, 1), v = t.random({N, H * V}, 2);
          const Var bias = t.random({N, H * (2 * reach + 1)}, 3), vector = t.random({H * K}, 4);
          const ScoreInputs all_scores{bias, score == Score::additive ? vector : Var(), t.random({V, 7}, 5)};
          const Spans spans({0, N});
          const Visibility visible{.window = window};
          const Var all = attention(t.cx, q, k, v, {spans, spans, H, visible, score, {}}, all_scores);
          const Var one(q.value().row_range(position, 1));
          const StepKeys keys{
              .length = int_tensor({N}, {1}), .begin = int_tensor({0}, {1}), .position = int_tensor({position}, {1})};
          const ScoreInputs scores{Var(bias.value().row_range(position, 1)), all_scores.vector,
                                   all_scores.distance_values};
          expect_close(values_of(attention_step(t.cx, one, k, v, {keys, N, H, window, score}, scores)),
                       values_of(all.value().row_range(position, 1)), tolerance(DType::f32), name);
        }
}

TEST(AttentionStep, GivesZeroToARowWithoutKeys) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var q = t.random({1, 4}), k = t.random({1, 4});
    const StepKeys keys{.length = int_tensor({0}, {1}), .begin = int_tensor({0}, {1})};
    EXPECT_THAT(values_of(attention_step(t.cx, q, k, k, {keys, 1, 2})), Each(0)) << name;
  }
}

// One way or the other, the rows' own keys are in the cache, and so are those of earlier steps.
TEST(AttentionStep, WritesTheKeysOfItsRowsBeforeItReads) {
  const auto check = [](const char* name) {
    std::vector<std::vector<double>> results;
    for (const bool at_once : {false, true}) {
      ByHand t(test_backend(name), DType::f32);
      const Var q = t.random({3, 6}, 1), new_k = t.random({3, 6}, 2), new_v = t.random({3, 10}, 3);
      const Tensor k = t.random({9, 6}, 4), v = t.random({9, 10}, 5);
      const Tensor rows = int_tensor({8, 2, 5}, {3});
      const StepKeys keys{.length = int_tensor({3, 3, 2}, {3}),
                          .table = int_tensor({0, 1, 8, 0, 7, 2, 6, 5, 5}, {3, 3})};
      const NewKeys own{new_k, new_v, rows};
      if (!at_once) t.cx.backend.scatter_rows(k, new_k, rows), t.cx.backend.scatter_rows(v, new_v, rows);
      const Var y = attention_step(t.cx, q, k, v, {keys, 3, 2}, {}, at_once ? own : NewKeys{});
      for (const Tensor& x : {y.value(), k, v}) results.push_back(values_of(x));
    }
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(results[i], results[i + 3]) << name;
  };
  check("reference"), check("gpu kernels on the host");
  for_each_target([&] { check("cpu"); });
}

// A broken state must show, but only in results made of it: one key of row 2 for head 1, and the query of row 0 for
// head 0, which turns all its scores into NaN.
TEST(AttentionStep, PassesOnWhatIsNoNumber) {
  const auto check = [](const char* name, Score score, int64_t D) {
    ByHand t(test_backend(name), DType::f32);
    std::vector<double> q = normals(3 * 2 * D, 1), k = normals(30 * 2 * D, 2);
    q[3] = k[20 * 2 * D + D + 2] = std::nan("");
    const Var v = t.random({30, 2 * D}, 3), vector = t.random({2 * D}, 4);
    const StepKeys keys{.length = int_tensor({9, 9, 9}, {3}), .begin = int_tensor({0, 10, 20}, {3})};
    const auto y =
        values_of(attention_step(t.cx, Var(t.constant({3, 2 * D}, q)), t.constant({30, 2 * D}, k), v,
                                 {keys, 9, 2, -1, score}, {Var(), score == Score::additive ? vector : Var()}));
    for (int64_t i = 0; i < int64_t(y.size()); ++i)
      EXPECT_EQ(std::isnan(y[i]), i < D || i >= 5 * D) << name << ", heads of " << D << ", number " << i;
  };
  for (const Score score : {Score::scaled_dot, Score::additive})
    for (const int64_t D : {5, 8}) {
      check("reference", score, D), check("gpu kernels on the host", score, D);
      for_each_target([&] { check("cpu", score, D); });
    }
}

// The first 32 of 40 keys, which a GPU handles at once, are no numbers.
TEST(AttentionStep, PassesOnWhatIsNoNumberInSomeKeysOnly) {
  const auto check = [](const char* name, int64_t D) {
    ByHand t(test_backend(name), DType::f32);
    std::vector<double> k = normals(40 * D, 1);
    std::fill(k.begin(), k.begin() + 32 * D, std::nan(""));
    const Var q = t.random({1, D}, 2), v = t.random({40, D}, 3);
    const StepKeys keys{.length = int_tensor({40}, {1}), .begin = int_tensor({0}, {1})};
    for (const double y : values_of(attention_step(t.cx, q, t.constant({40, D}, k), v, {keys, 40, 1})))
      EXPECT_TRUE(std::isnan(y)) << name << ", heads of " << D;
  };
  for (const int64_t D : {5, 8}) {
    check("reference", D), check("gpu kernels on the host", D);
    for_each_target([&] { check("cpu", D); });
  }
}

// A line's translation must not depend on the other lines of its batch.
TEST(AttentionStep, GivesARowTheSameBitsWhateverItsNeighboursAndThreads) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var q = t.random({9, 6}), k = t.random({20, 6}, 1);
    const Tensor length = int_tensor({7, 1, 20, 3, 9, 20, 5, 2, 17}, {9});
    const Tensor begin = int_tensor({1, 2, 0, 4, 5, 0, 7, 8, 3}, {9});
    const auto all = values_of(attention_step(t.cx, q, k, k, {{length, begin}, 20, 2}));
    const Threads one(1);
    for (int64_t r = 0; r < 9; ++r) {
      const Var row(q.value().row_range(r, 1));
      const auto alone =
          values_of(attention_step(t.cx, row, k, k, {{length.row_range(r, 1), begin.row_range(r, 1)}, 20, 2}));
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * 6)) << "row " << r;
    }
  });
}

TEST(AttentionStep, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var q = t.random({3, 4}), k = t.random({9, 4}), v = t.random({9, 6});
  const Tensor three = int_tensor({1, 1, 1}, {3}), two = int_tensor({1, 1}, {2});
  const auto step = [&](const Var& k, const StepKeys& keys) {
    return error_of([&] { attention_step(t.cx, q, k, v, {keys, 1, 2}); });
  };
  EXPECT_THAT(step(t.random({9, 5}), {three, three}), AllOf(HasSubstr("(3,4)"), HasSubstr("(9,5)")));
  EXPECT_THAT(step(k, {two, three}), AllOf(HasSubstr("(2)"), HasSubstr("(3)")));
  EXPECT_THAT(step(k, {three, two}), AllOf(HasSubstr("(2)"), HasSubstr("(3)")));
  EXPECT_THAT(step(k, {three, three, {}, two}), AllOf(HasSubstr("(2)"), HasSubstr("(3)")));
  EXPECT_THAT(step(k, {three, {}, int_tensor({0, 0}, {2, 1})}), AllOf(HasSubstr("(2,1)"), HasSubstr("(3,T)")));
  const NewKeys own{q, t.random({3, 5}), three};
  EXPECT_THAT(error_of([&] {
                attention_step(t.cx, q, k, v, {{three, three}, 1, 2}, {}, own);
              }),
              AllOf(HasSubstr("(3,5)"), HasSubstr("(3,6)")));
}

}  // namespace
}  // namespace dragoman
