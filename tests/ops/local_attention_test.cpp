#include "ops/local_attention.h"
#include "backend/backend.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/attention.h"
#include "ops/recurrent.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

OpCase window_case(const std::vector<int32_t>& lengths, int64_t cols, int window) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("{} sentences, {} x {}, window {}", lengths.size(), spans.rows(), cols, window),
          {{"v", {spans.rows(), cols}}, {"c", {spans.sentences(), 1}}},
          [=](Context& cx, const OpInputs& in) {
            return gaussian_window(cx, in.at("v"), in.at("c"), spans, window).values;
          }};
}

// c is the center of each query's window, from 0 to the length of its sentence.
OpCase attention_case(const std::vector<int32_t>& lengths, int64_t cols, int window) {
  const Spans spans = Spans::of_lengths(lengths);
  const int64_t B = spans.sentences();
  return {fmt::format("attention of {} sentences, {} x {}, window {}", lengths.size(), spans.rows(), cols, window),
          {{"q", {B, cols}}, {"k", {spans.rows(), cols}}, {"v", {spans.rows(), 3}}, {"c", {B, 1}}},
          [=](Context& cx, const OpInputs& in) {
            const Tensor S = cx.save({B, 1}, in.at("c").dtype());
            cx.backend.copy(S, float_tensor({lengths.begin(), lengths.end()}, {B, 1}));
            const auto [v, g, bias] = gaussian_window(cx, in.at("v"), gate(cx, Var(S), in.at("c")), spans, window);
            return attention(cx, in.at("q"), in.at("k"), v, {Spans::one_row_each(B), spans}, {Var(bias), Var()});
          }};
}

// GPUs take 32 keys at a time: of 500, the first 32 and many others are all outside the window.
INSTANTIATE_TEST_SUITE_P(GaussianWindow, OpCheck,
                         testing::Values(window_case({}, 3, 1), window_case({1}, 1, 2), window_case({1, 0, 16}, 33, 2),
                                         window_case({500, 3}, 5, 10), attention_case({7}, 17, 1),
                                         attention_case({1, 16, 33}, 5, 3), attention_case({500, 2}, 3, 10)),
                         name_of_case);

// Five positions and a window of 2 around 1.5, so σ = 1: e^(-9/8) and e^(-1/8) on both sides, and 0 for the last one.
TEST(GaussianWindow, IsTheGaussianOfThePaperCutAtTheEdgesOfTheWindow) {
  ByHand t;
  const Var v = t.var({5, 1}, {1, 2, 3, 4, 5}), c = t.var({1, 1}, {1.5});
  const GaussianWindow w = gaussian_window(t.cx, v, c, Spans({0, 5}), 2);
  const double far = std::exp(-9. / 8), near = std::exp(-1. / 8), none = -1e30;
  expect_close(values_of(w.factors), {far, near, near, far, 0}, 1e-15, "factors");
  expect_close(values_of(w.values), {far, 2 * near, 3 * near, 4 * far, 0}, 1e-15, "values");
  EXPECT_THAT(values_of(w.bias), testing::ElementsAre(none, none, none, none, none, 0, 0, 0, 0, none, none));
  t.backward(w.values, {1, 1, 1, 1, 1});
  expect_close(values_of(v.node()->gradient), {far, near, near, far, 0}, 1e-15, "dv");
  // Σ v_j g_j (j - 1.5) / σ²
  expect_close(values_of(c.node()->gradient), {4.5 * far + 0.5 * near}, 1e-14, "dc");
}

// Equal scores: each key in the window has 1/3 times its Gaussian, so the weights do not sum to 1.
TEST(GaussianWindow, MultipliesTheSoftmaxOverTheWindowAfterwards) {
  ByHand t;
  const Var q = t.var({1, 1}, {0}), k = t.random({4, 1}), v = t.var({4, 1}, {6, 12, 18, 24});
  const GaussianWindow w = gaussian_window(t.cx, v, t.constant({1, 1}, {1}), Spans({0, 4}), 1);
  const Var y = attention(t.cx, q, k, w.values, {Spans({0, 1}), Spans({0, 4})}, {Var(w.bias), Var()});
  expect_close(values_of(y), {2 * std::exp(-2) + 4 + 6 * std::exp(-2)}, 1e-14, "y");
}

TEST(GaussianWindow, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const auto message = [&](const Var& centers, const Spans& spans, int window) {
    return error_of([&] { gaussian_window(t.cx, t.random({3, 2}), centers, spans, window); });
  };
  EXPECT_THAT(message(t.random({1, 1}), Spans({0, 4}), 1), testing::AllOf(HasSubstr("(3,2)"), HasSubstr("4 rows")));
  EXPECT_THAT(message(t.random({2, 1}), Spans({0, 3}), 1), testing::AllOf(HasSubstr("(2,1)"), HasSubstr("(1,1)")));
  EXPECT_THAT(message(t.random({1, 1}), Spans({0, 3}), 0), HasSubstr("±0"));
}

}  // namespace
}  // namespace dragoman
