#include <gmock/gmock.h>

#include "ops/norm.h"
#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

OpCase copy_case(const std::string& name, int64_t rows, std::vector<int32_t> of, std::vector<int32_t> copies) {
  const auto M = int64_t(of.size()), k = rows > 0 ? int64_t(copies.size()) / rows : 2;
  return {name, {{"x", {rows, 17}}}, [=](Context& cx, const OpInputs& in) {
            return copy_rows(cx, in.at("x"), int_tensor(of, {M}), int_tensor(copies, {rows, k}));
          }};
}

// x is used twice: its second gradient is added to the first.
OpCase copy_and_norm_case() {
  return {"of a value that another op reads too",
          {{"x", {3, 5}}, {"g", {5}}, {"b", {5}}},
          [](Context& cx, const OpInputs& in) {
            const Var copies =
                copy_rows(cx, in.at("x"), int_tensor({2, 0, 0}, {3}), int_tensor({1, 2, -1, -1, 0, -1}, {3, 2}));
            return residual_norm(cx, in.at("x"), copies, in.at("g"), in.at("b"), {});
          }};
}

INSTANTIATE_TEST_SUITE_P(CopyRows, OpCheck,
                         testing::ValuesIn(std::vector{
                             copy_case("none of none", 0, {}, {}),
                             copy_case("none of some", 3, {}, {-1, -1, -1}),
                             copy_case("some twice", 3, {1, 0, 1}, {1, -1, 2, 0, -1, -1}),
                             copy_case("zeros", 2, {-1, 1, -1, 0}, {3, 1}),
                             copy_and_norm_case(),
                         }),
                         name_of_case);

OpCase mix_case(const std::string& name, int64_t of, int64_t k, std::vector<int32_t> rows) {
  const int64_t N = int64_t(rows.size()) / k;
  return {name, {{"x", {of, 33}}, {"w", {N, k}}}, [=](Context& cx, const OpInputs& in) {
            return mix_rows(cx, in.at("x"), int_tensor(rows, {N, k}), in.at("w"));
          }};
}

INSTANTIATE_TEST_SUITE_P(MixRows, OpCheck,
                         testing::ValuesIn(std::vector{
                             mix_case("no rows", 0, 2, {}),
                             mix_case("one a row", 3, 1, {2, 0, 1}),
                             mix_case("three a row", 6, 3, {5, 0, 1, 4, 2, 3}),
                             mix_case("some left out", 4, 2, {-1, 3, -1, -1, 0, 2, 1, -1}),
                         }),
                         name_of_case);

TEST(MixRows, AddsRowsTimesTheirWeights) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.var({3, 2}, {1, 2, 3, 4, 5, 6}), w = t.var({2, 2}, {2, 10, 7, 100});
    const Var y = mix_rows(t.cx, x, int_tensor({2, 0, -1, 1}, {2, 2}), w);
    EXPECT_THAT(values_of(y), ElementsAre(20, 32, 300, 400)) << name;  // 2 · (5,6) + 10 · (1,2), 100 · (3,4)
    t.backward(y, {1, 10, 1, 1});
    EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(10, 100, 100, 100, 2, 20)) << name;
    EXPECT_THAT(values_of(w.node()->gradient), ElementsAre(65, 21, 0, 7)) << name;  // (1,10) · (5,6), · (1,2)
  }
}

TEST(MixRows, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Tensor two = int_tensor({0, 1}, {1, 2});
  EXPECT_THAT(error_of([&] {
                mix_rows(t.cx, t.random({2, 3}), two, t.random({2, 1}));
              }),
              testing::AllOf(testing::HasSubstr("(1,2)"), testing::HasSubstr("(2,1)")));
  EXPECT_THAT(error_of([&] { copy_rows(t.cx, t.random({2, 3}), two, two); }), testing::HasSubstr("(1,2)"));
}

OpCase windows_case(const std::vector<int32_t>& lengths, int64_t cols, int width) {
  const Spans spans = Spans::of_lengths(lengths);
  return {fmt::format("{} sentences, {} x {}, width {}", lengths.size(), spans.rows(), cols, width),
          {{"x", {spans.rows(), cols}}},
          [=](Context& cx, const OpInputs& in) { return strided_windows(cx, in.at("x"), spans, width); }};
}

INSTANTIATE_TEST_SUITE_P(StridedWindows, OpCheck,
                         testing::Values(windows_case({}, 3, 3), windows_case({1}, 5, 3),
                                         windows_case({3, 0, 1}, 17, 1), windows_case({1, 16, 17}, 33, 3),
                                         windows_case({33, 2}, 3, 4)),
                         name_of_case);

TEST(StridedWindows, EndWhereTheyStandAndShareNoRow) {
  ByHand t;
  const Var y = strided_windows(t.cx, t.constant({7, 1}, {1, 2, 3, 4, 5, 6, 7}), Spans({0, 5, 7}), 3);
  EXPECT_EQ(y.shape(), Shape({3, 3}));
  EXPECT_THAT(values_of(y), ElementsAre(0, 0, 1, 2, 3, 4, 0, 0, 6));
}

}  // namespace
}  // namespace dragoman
