#include "ops/dropout.h"

#include <gmock/gmock.h>

#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Dropout drop_of(Context& cx, int64_t rows, double rate) {
  return cx.dropout(rate, positions_of(Spans({0, int32_t(rows)})));
}

OpCase dropout_case(int64_t rows, int64_t cols) {
  return {fmt::format("{} x {}", rows, cols), {{"x", {rows, cols}}}, [=](Context& cx, const OpInputs& in) {
            return dropout(cx, in.at("x"), drop_of(cx, rows, 0.3));
          }};
}

OpCase residual_case(int64_t rows, int64_t cols, double rate) {
  return {
      fmt::format("{} x {} dropout {}", rows, cols, rate),
      {{"x", {rows, cols}}, {"r", {rows, cols}}},
      [=](Context& cx, const OpInputs& in) { return residual(cx, in.at("x"), in.at("r"), drop_of(cx, rows, rate)); }};
}

INSTANTIATE_TEST_SUITE_P(Dropout, OpCheck,
                         testing::Values(dropout_case(0, 3), dropout_case(1, 1), dropout_case(3, 17),
                                         dropout_case(33, 33), dropout_case(2, 300)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Residual, OpCheck,
                         testing::Values(residual_case(0, 3, 0.1), residual_case(17, 3, 0), residual_case(3, 17, 0.3),
                                         residual_case(33, 130, 0.5)),
                         name_of_case);

// Dropout of ones on a backend, which gives the mask itself.
std::vector<double> mask(const char* backend, const Dropout& drop, Shape shape) {
  ByHand t(backend, DType::f32);
  return values_of(dropout(t.cx, t.constant(shape, std::vector<double>(shape.elements(), 1.0)), drop));
}

Dropout example(double rate = 0.3) {
  return {
      .rate = rate, .seed = 0x123456789ABCDEF, .update = 1000, .op = 17, .positions = positions_of(Spans({0, 5, 7}))};
}

TEST(Dropout, DrawsTheSameMaskOnEveryBackendBitForBit) {
  for_each_target([] {
    for (const int64_t cols : {1, 17, 128, 129, 500})
      for (const double rate : {0.001, 0.3, 0.999})
        EXPECT_EQ(mask("cpu", example(rate), {7, cols}), mask("reference", example(rate), {7, cols}));
  });
}

// A rate of 1/4 drops 16,384 of 65,536 numbers and scales the rest by 4/3. 70,000 draws deviate from the rate by
// 0.0016 (one standard deviation).
TEST(Dropout, KeepsItsShareAndTheMean) {
  int kept = 0;
  for (double x : mask("reference", example(0.25), {7, 10000})) {
    if (x == 0) continue;
    ++kept;
    EXPECT_EQ(x, float(4.0 / 3));
  }
  EXPECT_NEAR(kept / 70000.0, 0.75, 0.007);
}

TEST(Dropout, IsAFunctionOfSentenceAndTokenNotOfTheRow) {
  Dropout swapped = example();
  swapped.positions = int_tensor({1, 1, 0, 3}, {2, 2});  // rows 6 and 3 of the example
  const auto all = mask("cpu", example(), {7, 40}), two = mask("cpu", swapped, {2, 40});
  EXPECT_TRUE(std::equal(two.begin(), two.begin() + 40, all.begin() + 6 * 40));
  EXPECT_TRUE(std::equal(two.begin() + 40, two.end(), all.begin() + 3 * 40));
}

TEST(Dropout, DrawsAnotherMaskForAnotherSeedUpdateOrOp) {
  const auto first = mask("reference", example(), {7, 40});
  for (int field = 0; field < 4; ++field) {
    Dropout other = example();
    if (field == 0) other.seed += 1;
    if (field == 1) other.seed += uint64_t{1} << 32;
    if (field == 2) other.update += 1;
    if (field == 3) other.op += 1;
    EXPECT_NE(mask("reference", other, {7, 40}), first) << field;
  }
}

TEST(Dropout, IsTheInputItselfOutsideTraining) {
  ByHand t;
  t.cx.training = false;
  const Var x = t.random({7, 3});
  EXPECT_EQ(dropout(t.cx, x, t.cx.dropout(0.5, example().positions)).value().data(), x.value().data());
}

TEST(Context, CountsEachDropoutOfAPassEvenWhenItIsOff) {
  ByHand t;
  t.cx.dropout(0, {});
  EXPECT_EQ(t.cx.dropout(0.1, {}).op, 1u);
}

TEST(Dropout, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var x = t.random({3, 4});
  EXPECT_THAT(error_of([&] {
                residual(t.cx, x, t.random({3, 5}), {});
              }),
              AllOf(HasSubstr("(3,4)"), HasSubstr("(3,5)")));
  const auto names_both = AllOf(HasSubstr("(7,2)"), HasSubstr("(3,2)"));
  EXPECT_THAT(error_of([&] { residual(t.cx, x, x, example()); }), names_both);
  EXPECT_THAT(error_of([&] { dropout(t.cx, x, example()); }), names_both);
}

}  // namespace
}  // namespace dragoman
