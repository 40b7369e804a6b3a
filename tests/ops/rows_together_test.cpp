#include <gmock/gmock.h>

#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

OpCase stack_case(std::vector<int64_t> rows) {
  std::vector<OpInput> parts;
  for (size_t i = 0; i < rows.size(); ++i) parts.push_back({fmt::format("x{}", i), {rows[i], 17}});
  return {fmt::format("{} parts", rows.size()), parts, [=](Context& cx, const OpInputs& in) {
            std::vector<Var> stacked;
            for (const auto& part : parts) stacked.push_back(in.at(part.name));
            return stack_rows(cx, stacked);
          }};
}
OpCase one_part_twice() {
  return {"one part twice", {{"x", {3, 5}}}, [](Context& cx, const OpInputs& in) {
            return stack_rows(cx, {in.at("x"), in.at("x")});
          }};
}
INSTANTIATE_TEST_SUITE_P(StackRows, OpCheck, testing::Values(stack_case({3}), stack_case({1, 0, 33}), one_part_twice()),
                         name_of_case);

OpCase join_case(int64_t rows, int64_t a, int64_t b) {
  return {fmt::format("{} x {} + {}", rows, a, b),
          {{"a", {rows, a}}, {"b", {rows, b}}},
          [](Context& cx, const OpInputs& in) { return join_columns(cx, in.at("a"), in.at("b")); }};
}
INSTANTIATE_TEST_SUITE_P(JoinColumns, OpCheck,
                         testing::Values(join_case(0, 1, 1), join_case(17, 33, 3), join_case(1, 1, 16)), name_of_case);

OpCase pool_case(const std::vector<int32_t>& lengths, int64_t cols, Pool kind) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("{} of {} sentences, {} x {}", kind == Pool::sum ? "sum" : "mean", lengths.size(), spans.rows(),
                      cols),
          {{"x", {spans.rows(), cols}}},
          [=](Context& cx, const OpInputs& in) { return pool(cx, in.at("x"), spans, kind); }};
}
INSTANTIATE_TEST_SUITE_P(Pool, OpCheck,
                         testing::Values(pool_case({}, 3, Pool::sum), pool_case({1, 0, 16}, 33, Pool::sum),
                                         pool_case({500, 3}, 5, Pool::mean), pool_case({0, 1, 7}, 17, Pool::mean)),
                         name_of_case);

OpCase neighbours_case(const std::vector<int32_t>& lengths, int64_t cols, int width) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("{} of {} sentences, {} x {}", width, lengths.size(), spans.rows(), cols),
          {{"x", {spans.rows(), cols}}},
          [=](Context& cx, const OpInputs& in) { return neighbours(cx, in.at("x"), spans, width); }};
}
INSTANTIATE_TEST_SUITE_P(Neighbours, OpCheck,
                         testing::Values(neighbours_case({}, 3, 3), neighbours_case({1, 0, 16}, 17, 3),
                                         neighbours_case({500, 2}, 5, 4), neighbours_case({7}, 33, 1),
                                         neighbours_case({2, 3}, 1, 9)),
                         name_of_case);

TEST(Neighbours, StandSideBySideWithinASentence) {
  ByHand t;
  const Var x = t.constant({4, 1}, {1, 2, 3, 7});
  EXPECT_THAT(values_of(neighbours(t.cx, x, Spans({0, 3, 4}), 3)), ElementsAre(0, 1, 2, 1, 2, 3, 2, 3, 0, 0, 7, 0));
  EXPECT_THAT(values_of(neighbours(t.cx, x, Spans({0, 3, 4}), 2)), ElementsAre(1, 2, 2, 3, 3, 0, 7, 0));
}

TEST(Pool, AddsTheRowsOfASentenceOrTakesTheirMean) {
  ByHand t;
  const Var x = t.constant({3, 1}, {2, 4, 9});
  const Spans spans({0, 2, 2, 3});
  EXPECT_THAT(values_of(pool(t.cx, x, spans, Pool::sum)), ElementsAre(6, 0, 9));
  EXPECT_THAT(values_of(pool(t.cx, x, spans, Pool::mean)), ElementsAre(3, 0, 9));
}

TEST(RowsTogether, RefuseShapesThatDoNotFitAndNameThem) {
  ByHand t;
  const Var x = t.random({3, 4}), y = t.random({2, 5});
  const auto names_both = testing::AllOf(testing::HasSubstr("(3,4)"), testing::HasSubstr("(2,5)"));
  EXPECT_THAT(error_of([&] { stack_rows(t.cx, {x, y}); }), names_both);
  EXPECT_THAT(error_of([&] { join_columns(t.cx, x, y); }), names_both);
  EXPECT_THAT(error_of([&] {
                neighbours(t.cx, x, Spans({0, 2}), 3);
              }),
              testing::AllOf(testing::HasSubstr("(3,4)"), testing::HasSubstr("2 rows")));
  EXPECT_THAT(error_of([&] {
                pool(t.cx, x, Spans({0, 2}), Pool::sum);
              }),
              testing::AllOf(testing::HasSubstr("(3,4)"), testing::HasSubstr("2 rows")));
}

}  // namespace
}  // namespace dragoman
