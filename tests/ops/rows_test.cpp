#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "backend/backend.h"
#include "ops/dropout.h"
#include "ops/norm.h"
#include "ops/rows.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

OpCase gather_case(const std::string& name, int64_t rows, std::vector<int32_t> chosen) {
  OpCase c{name, {{"x", {rows, 17}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    return gather_rows(cx, in.at("x"), int_tensor(chosen, {int64_t(chosen.size())}));
  };
  return c;
}

// x is used twice: its second gradient is added to the first.
OpCase gather_and_norm_case() {
  OpCase c{"of a value that another op reads too", {{"x", {5, 3}}, {"g", {3}}, {"b", {3}}}};
  c.op = [](Context& cx, const OpInputs& in) {
    const Var part = gather_rows(cx, in.at("x"), int_tensor({4, 0, 2, 1, 3}, {5}));
    return residual_norm(cx, in.at("x"), part, in.at("g"), in.at("b"), {});
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(GatherRows, OpCheck,
                         testing::ValuesIn(std::vector{
                             gather_case("none of none", 0, {}),
                             gather_case("none of some", 3, {}),
                             gather_case("some", 33, {32, 0, 7}),
                             gather_case("all", 3, {0, 1, 2}),
                             gather_and_norm_case(),
                         }),
                         name_of_case);

OpCase pick_case(const std::string& name, int64_t rows, int64_t cols) {
  std::vector<int32_t> columns(rows);
  for (int64_t n = 0; n < rows; ++n) columns[n] = int32_t(n * 3 % cols);
  OpCase c{name, {{"x", {rows, cols}}}};
  c.op = [=](Context& cx, const OpInputs& in) { return pick_columns(cx, in.at("x"), int_tensor(columns, {rows})); };
  return c;
}

// A value that is picked from twice adds up both gradients.
OpCase pick_twice_case() {
  OpCase c{"twice", {{"x", {4, 3}}}};
  c.op = [](Context& cx, const OpInputs& in) {
    const Var a = pick_columns(cx, in.at("x"), int_tensor({2, 0, 1, 2}, {4}));
    return residual(cx, a, pick_columns(cx, in.at("x"), int_tensor({2, 1, 0, 2}, {4})), {});
  };
  return c;
}

INSTANTIATE_TEST_SUITE_P(PickColumns, OpCheck,
                         testing::Values(pick_case("of none", 0, 3), pick_case("of one", 1, 1),
                                         pick_case("of some", 33, 17), pick_twice_case()),
                         name_of_case);

TEST(PickColumns, TakesOneNumberOfEachRow) {
  ByHand t;
  const Var x = t.var({2, 3}, {1, 2, 3, 4, 5, 6});
  const Var y = pick_columns(t.cx, x, int_tensor({2, 0}, {2}));
  EXPECT_THAT(values_of(y), ElementsAre(3, 4));
  t.backward(y, {10, 20});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(0, 0, 10, 20, 0, 0));
}

TEST(PickColumns, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  EXPECT_THAT(error_of([&] {
                pick_columns(t.cx, t.random({3, 2}), int_tensor({0, 1}, {2}));
              }),
              testing::AllOf(testing::HasSubstr("(3,2)"), testing::HasSubstr("(2)")));
}

TEST(GatherRows, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const std::string message = error_of([&] { gather_rows(t.cx, t.random({3}), int_tensor({0, 1}, {2, 1})); });
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("(3)"), testing::HasSubstr("(2,1)")));
}

struct Best {
  std::vector<double> values, lse;
  std::vector<int32_t> ids;
};

Best top_k(ByHand& t, const Tensor& logits, int64_t k, bool with_lse = true) {
  const int64_t R = logits.rows();
  const Tensor values = t.empty({R, k}), ids = t.arena.allocate({R, k}, DType::i32);
  const Tensor lse = with_lse ? t.empty({R}) : Tensor();
  t.cx.backend.top_k(values, ids, lse, logits);
  const Tensor found = ids.on_host();
  return {values_of(values),
          with_lse ? values_of(lse) : std::vector<double>(),
          {found.as<int32_t>(), found.as<int32_t>() + R * k}};
}

TEST(TopK, GivesTheBestFirstAndTiesToTheLowerId) {
  const auto check = [](const char* name) {
    ByHand t(name, DType::f32);
    const Best best = top_k(t, tensor_of(t.arena, {1, 5}, {1, 5, 2, 5, 2}, DType::f32), 3);
    EXPECT_THAT(best.values, ElementsAre(5, 5, 2)) << name;
    EXPECT_THAT(best.ids, ElementsAre(1, 3, 2)) << name;
    EXPECT_NEAR(best.lse[0], 5 + std::log(2 + 2 * std::exp(-3) + std::exp(-4)), 1e-6) << name;
  };
  check("reference");
  for_each_target([&] { check("cpu"); });
}

TEST(TopK, AgreesWithTheReferenceAtEverySize) {
  const Threads one(1);
  for (const int64_t V : {1, 3, 17, 33, 500, 8001})
    for (const int64_t k : {1, 3, 12, 33, 64, 300}) {
      if (k > V) continue;
      ByHand reference("reference", DType::f32);
      std::vector<double> logits = normals(5 * V, V);
      if (k % 2 == 0)  // many are equal
        for (double& logit : logits) logit = std::round(logit * 4) / 4;
      const Best expected = top_k(reference, reference.constant({5, V}, logits), k);
      for_each_target([&] {
        ByHand cpu("cpu", DType::f32);
        const Best best = top_k(cpu, cpu.constant({5, V}, logits), k);
        EXPECT_EQ(best.ids, expected.ids);
        EXPECT_EQ(best.values, expected.values);
        expect_close(best.lse, expected.lse, tolerance(DType::f32), "lse");
      });
    }
}

// Logits that are small whole numbers have many ties: the lower id comes first.
void check_gpu_top_k(const Backend& gpu) {
  for (const int64_t V : {1, 3, 17, 500, 8001, 32000}) {
    for (const int64_t k : {1, 4, 12, 33}) {
      if (k > V) continue;
      ByHand reference("reference", DType::f32), t(gpu, DType::f32);
      std::vector<double> logits = normals(5 * V, V);
      for (int64_t i = 0; i < V; ++i) logits[i] = std::round(logits[i]);
      if (V > 1) logits[3 * V] = -std::numeric_limits<double>::infinity();
      const Best expected = top_k(reference, reference.constant({5, V}, logits), k);
      const Best best = top_k(t, t.constant({5, V}, logits), k);
      EXPECT_EQ(best.ids, expected.ids) << V << " " << k;
      EXPECT_EQ(best.values, expected.values) << V << " " << k;
      expect_close(best.lse, expected.lse, tolerance(DType::f32), "lse");
      const Best without = top_k(t, t.constant({5, V}, logits), k, false);
      EXPECT_EQ(without.ids, best.ids) << V << " " << k;
      EXPECT_EQ(without.values, best.values) << V << " " << k;
      logits[2 * V + V - 1] = std::nan("");
      for (const bool with_lse : {true, false}) {
        const Best marked = top_k(t, t.constant({5, V}, logits), k, with_lse);
        EXPECT_TRUE(std::isnan(marked.values[size_t(2 * k)])) << V << " " << k;
        EXPECT_TRUE(!with_lse || std::isnan(marked.lse[2])) << V << " " << k;
      }
    }
  }
}

TEST(TopK, KernelsForGpusAgreeWithTheReference) {
  const Threads one(1);
  check_gpu_top_k(gpu_on_host());
}

TEST(TopK, GpusAgreeWithTheReference) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  check_gpu_top_k(gpu());
}

TEST(TopK, FindsTheSameWithoutLogSumExpAndMarksRowsWithANaN) {
  const Threads one(1);
  const auto check = [](const char* name) {
    for (const int64_t V : {3, 17, 500, 8001}) {
      ByHand t(name, DType::f32);
      const Tensor logits = t.constant({4, V}, normals(4 * V, V));
      const Best with = top_k(t, logits, 3);
      logits.view<float>()(2, V - 1) = std::numeric_limits<float>::quiet_NaN();
      logits.view<float>()(3, V / 2) = std::numeric_limits<float>::quiet_NaN();
      const Tensor values = t.empty({4, 3}), ids = t.arena.allocate({4, 3}, DType::i32);
      t.cx.backend.top_k(values, ids, Tensor(), logits);
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t i = 0; i < 3; ++i) {
          EXPECT_EQ(values.view<float>()(r, i), float(with.values[size_t(3 * r + i)])) << name << V;
          EXPECT_EQ(ids.view<int32_t>()(r, i), with.ids[size_t(3 * r + i)]) << name << V;
        }
      EXPECT_TRUE(std::isnan(values.view<float>()(2, 0))) << name << V;
      EXPECT_TRUE(std::isnan(values.view<float>()(3, 0))) << name << V;
    }
  };
  check("reference");
  for_each_target([&] { check("cpu"); });
}

// The sum is computed while searching for the largest, which may therefore appear when much has been summed.
TEST(TopK, SumsTheSameWhereverTheLargestStands) {
  constexpr int64_t V = 1000, middle = V / 2;
  for (const double step : {0.001, 0.1, 10.0, 1e30}) {
    std::vector<double> rising(V);
    for (int64_t v = 0; v < V; ++v) rising[size_t(v)] = step * double(v - middle);
    const std::vector<double> falling(rising.rbegin(), rising.rend());
    std::vector<double> logits = rising;
    logits.insert(logits.end(), falling.begin(), falling.end());
    ByHand reference("reference", DType::f32);
    const Best expected = top_k(reference, reference.constant({2, V}, logits), 3);
    for_each_target([&] {
      ByHand cpu("cpu", DType::f32);
      const Best best = top_k(cpu, cpu.constant({2, V}, logits), 3);
      EXPECT_EQ(best.ids, expected.ids) << step;
      expect_close(best.lse, expected.lse, tolerance(DType::f32), "lse");
    });
  }
}

TEST(TopK, HasNoLogSumExpOfARowWithANaN) {
  const auto check = [](const char* name) {
    for (const int64_t at : {0, 1, 16, 499}) {
      ByHand t(name, DType::f32);
      std::vector<double> logits = normals(500, 1);
      logits[size_t(at)] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(top_k(t, t.constant({1, 500}, logits), 3).lse[0])) << name << at;
    }
  };
  check("reference");
  for_each_target([&] { check("cpu"); });
}

// A search forbids a token by setting its logit to -inf.
TEST(TopK, OmitsForbiddenPieces) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  for_each_target([&] {
    ByHand t("cpu", DType::f32);
    const Best best = top_k(t, t.constant({1, 5}, {never, 1, never, 1, never}), 2);
    EXPECT_THAT(best.ids, ElementsAre(1, 3));
    EXPECT_NEAR(best.lse[0], 1 + std::log(2.0), 1e-6);
  });
}

// A shortlist (decode/candidates.h) pads its scores to whole vectors of 64 and omits all impossible scores after them.
TEST(TopK, CountsTheSameBitsHoweverManyImpossibleScoresFollow) {
  for_each_target([] {
    for (const int64_t own : {1, 17, 63, 64, 65, 100}) {
      ByHand t("cpu", DType::f32);
      const std::vector<double> scores = values_of(t.random({1, own}));
      const auto with = [&](int64_t columns) {
        std::vector<double> row = scores;
        row.resize(size_t(columns), -1e37);
        const Best best = top_k(t, tensor_of(t.arena, {1, columns}, row, DType::f32), 1);
        return std::vector{best.values[0], best.lse[0], double(best.ids[0])};
      };
      const auto expected = with((own + 63) / 64 * 64);
      EXPECT_EQ(with(256), expected) << own;
      EXPECT_EQ(with(1024), expected) << own;
    }
  });
}

TEST(Rows, AreGatheredAndScatteredByIndex) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Tensor x = tensor_of(t.arena, {3, 2}, {1, 2, 3, 4, 5, 6}, DType::f32), y = t.empty({2, 2});
    t.cx.backend.gather_rows(y, x, int_tensor({2, 0}, {2}));
    EXPECT_THAT(values_of(y), ElementsAre(5, 6, 1, 2)) << name;
    t.cx.backend.scatter_rows(x, y, int_tensor({1, 2}, {2}));
    EXPECT_THAT(values_of(x), ElementsAre(1, 2, 5, 6, 1, 2)) << name;
  }
}

}  // namespace
}  // namespace dragoman
