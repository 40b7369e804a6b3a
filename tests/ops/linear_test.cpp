#include "ops/linear.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/dropout.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"
#include "train/not_finite.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

struct LinearSize {
  int64_t N, K, D;
};

OpCase linear_case(const std::string& name, LinearSize s, Activation act, bool with_bias) {
  OpCase c{.name = name, .inputs = {{"x", {s.N, s.K}}, {"w", {s.D, s.K}}}};
  if (with_bias) c.inputs.push_back({"b", {s.D}});
  c.op = [=](Context& cx, const OpInputs& in) {
    return linear(cx, in.at("x"), in.at("w"), with_bias ? in.at("b") : Var(), act);
  };
  c.masks = act == Activation::relu;
  if (s.N * s.K * s.D > 100'000) c.differences = 2;
  return c;
}

std::vector<OpCase> linear_cases() {
  std::vector<OpCase> cases;
  for (const auto [N, K, D] :
       {LinearSize{0, 3, 5}, LinearSize{1, 1, 1}, LinearSize{3, 17, 33}, LinearSize{17, 33, 3}, LinearSize{33, 3, 17}})
    cases.push_back(linear_case(fmt::format("{} rows {} to {}", N, K, D), {N, K, D}, Activation::none, true));
  for (const Activation act : {Activation::none, Activation::relu, Activation::gelu, Activation::swish,
                               Activation::tanh, Activation::gelu_tanh, Activation::gelu_sigmoid}) {
    cases.push_back(linear_case(fmt::format("{} with bias", name_of(act)), {17, 5, 19}, act, true));
    cases.push_back(linear_case(fmt::format("{} without bias", name_of(act)), {5, 33, 7}, act, false));
  }
  for (const auto [N, K, D] : {LinearSize{70, 512, 1024}, LinearSize{600, 65, 512}, LinearSize{64, 512, 512}}) {
    cases.push_back(
        linear_case(fmt::format("{} rows {} to {}, far apart", N, K, D), {N, K, D}, Activation::none, true));
    cases.back().rounds = false;
  }
  cases.push_back(linear_case("more rows than a block", {1030, 4, 257}, Activation::relu, true));
  cases.back().rounds = false;
  return cases;
}

// A ReLU that one or two products read. Near its kink, rounding decides.
std::vector<OpCase> relu_cases() {
  std::vector<OpCase> cases;
  for (const int64_t dim : {1, 17, 40, 42, 130}) {
    const auto up = [](Context& cx, const OpInputs& in) {
      return linear(cx, in.at("x"), in.at("up"), in.at("bias"), Activation::relu);
    };
    std::vector<OpInput> inputs = {{"x", {21, 6}}, {"up", {dim, 6}}, {"bias", {dim}}, {"down", {5, dim}}};
    cases.push_back({fmt::format("{} columns", dim), inputs,
                     [=](Context& cx, const OpInputs& in) { return linear(cx, up(cx, in), in.at("down"), Var()); }});
    inputs.push_back({"other", {5, dim}});
    cases.push_back({fmt::format("{} columns read twice", dim), inputs, [=](Context& cx, const OpInputs& in) {
                       const Var h = up(cx, in);
                       return residual(cx, linear(cx, h, in.at("down"), Var()), linear(cx, h, in.at("other"), Var()),
                                       {});
                     }});
  }
  for (OpCase& c : cases) c.rounds = false, c.masks = true;
  return cases;
}

std::vector<OpCase> activation_cases() {
  std::vector<OpCase> cases;
  for (const Activation act : {Activation::none, Activation::relu, Activation::gelu, Activation::swish,
                               Activation::tanh, Activation::gelu_tanh, Activation::gelu_sigmoid})
    for (const int64_t cols : {1, 17, 33})
      cases.push_back({fmt::format("{} of {} columns", name_of(act), cols),
                       {{"x", {33, cols}}},
                       [=](Context& cx, const OpInputs& in) { return activation(cx, in.at("x"), act); }});
  return cases;
}

std::vector<OpCase> gated_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](Activation act, int64_t rows, int64_t cols) {
    cases.push_back({fmt::format("{} of {} rows and {} columns", name_of(act), rows, cols),
                     {{"x", {rows, 2 * cols}}},
                     [=](Context& cx, const OpInputs& in) { return gated(cx, in.at("x"), act); }});
    cases.back().masks = act == Activation::relu;
  };
  for (const Activation act : {Activation::none, Activation::relu, Activation::gelu, Activation::swish,
                               Activation::tanh, Activation::gelu_tanh, Activation::gelu_sigmoid})
    for (const int64_t cols : {1, 17, 33}) add(act, 33, cols);
  add(Activation::swish, 0, 3), add(Activation::swish, 3, 130);
  return cases;
}

std::vector<OpCase> low_rank_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& name, int64_t N, int64_t K, int64_t D, int64_t rank, Activation act) {
    cases.push_back({.name = name,
                     .inputs = {{"x", {N, K}}, {"w", {D, K}}, {"b", {D}}, {"down", {rank, K}}, {"up", {D, rank}}},
                     .op = [=](Context& cx, const OpInputs& in) {
                       return linear(cx, in.at("x"), in.at("w"), in.at("b"), {in.at("down"), in.at("up")}, act);
                     }});
    cases.back().masks = act == Activation::relu;
  };
  for (const auto [N, K, D] : {LinearSize{0, 3, 5}, LinearSize{1, 1, 1}, LinearSize{17, 33, 3}, LinearSize{33, 3, 17}})
    add(fmt::format("{} rows {} to {}", N, K, D), N, K, D, 2, Activation::none);
  add("of rank 1 and relu", 9, 7, 20, 1, Activation::relu);
  add("of rank 8 and gelu", 9, 40, 24, 8, Activation::gelu);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(LowRank, OpCheck, testing::ValuesIn(low_rank_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Linear, OpCheck, testing::ValuesIn(linear_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Relu, OpCheck, testing::ValuesIn(relu_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Activation, OpCheck, testing::ValuesIn(activation_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Gated, OpCheck, testing::ValuesIn(gated_cases()), name_of_case);

// relu of (2, -1) times (3, 5): 6 and 0. The gradients of a are 3 · 10 and, below zero, 0; those of b are relu(a) · dy.
TEST(Gated, MultipliesTheActivatedHalfByTheOther) {
  ByHand t;
  const Var x = t.var({1, 4}, {2, -1, 3, 5});
  const Var y = gated(t.cx, x, Activation::relu);
  EXPECT_THAT(values_of(y), ElementsAre(6, 0));
  t.backward(y, {10, 100});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(30, 0, 20, 0));
  EXPECT_THAT(error_of([&] { gated(t.cx, t.random({2, 3}), Activation::relu); }), HasSubstr("gated: x is (2,3)"));
}

// 1·3 + 2·4 + 0.5 = 11.5;  1·5 + 2·6 - 20 = -3.
TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  ByHand t;
  const Var x = t.var({1, 2}, {1, 2}), w = t.var({2, 2}, {3, 4, 5, 6}), b = t.var({2}, {0.5, -20});
  EXPECT_THAT(values_of(linear(t.cx, x, w, b)), ElementsAre(11.5, -3));
  EXPECT_THAT(values_of(linear(t.cx, x, w, Var())), ElementsAre(11, 17));
  const Var y = linear(t.cx, x, w, b, Activation::relu);
  EXPECT_THAT(values_of(y), ElementsAre(11.5, 0));
  t.backward(y, {10, 100});  // the second output is clipped by ReLU
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(30, 40));
  EXPECT_THAT(values_of(w.node()->gradient), ElementsAre(10, 20, 0, 0));
  EXPECT_THAT(values_of(b.node()->gradient), ElementsAre(10, 0));
}

// down · x = 1·3 + 2·4 = 11, up · 11 = (22, -11): w · x + b = (11.5, -3) becomes (33.5, -14).
TEST(Linear, AddsALowRankUpdate) {
  ByHand t;
  const Var x = t.var({1, 2}, {1, 2}), w = t.var({2, 2}, {3, 4, 5, 6}), b = t.var({2}, {0.5, -20});
  const Var down = t.var({1, 2}, {3, 4}), up = t.var({2, 1}, {2, -1});
  const Var y = linear(t.cx, x, w, b, {down, up}, Activation::relu);
  EXPECT_THAT(values_of(y), ElementsAre(33.5, 0));
  t.backward(y, {10, 100});  // the second output is clipped by ReLU
  EXPECT_THAT(values_of(up.node()->gradient), ElementsAre(110, 0));
  EXPECT_THAT(values_of(down.node()->gradient), ElementsAre(20, 40));
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(30 + 60, 40 + 80));
  EXPECT_THAT(error_of([&] {
                linear(t.cx, x, w, b, {down, w}, Activation::none);
              }),
              HasSubstr("down is (1,2) and up (2,2), expected (R,2) and (2,R)"));
}

// Φ(1) = 0.841344746068543 and σ(1) = 0.731058578630005, σ(-2) = 0.119202922022118 (from tables).
TEST(Activation, HasTheValuesOfItsFormula) {
  ByHand t;
  const Var x = t.var({1, 3}, {1, -1, -2});
  const auto act = [&](Activation a) { return values_of(activation(t.cx, x, a)); };
  const auto near = [](std::vector<double> y) { return Pointwise(DoubleNear(1e-14), y); };
  EXPECT_THAT(act(Activation::relu), ElementsAre(1, 0, 0));
  EXPECT_THAT(act(Activation::gelu), near({0.841344746068543, -0.158655253931457, -0.045500263896358}));
  EXPECT_THAT(act(Activation::swish), near({0.731058578630005, -0.268941421369995, -0.238405844044235}));
  EXPECT_THAT(act(Activation::gelu_tanh), near({0.841191990608277, -0.158808009391723, -0.045402305912225}));
  EXPECT_THAT(act(Activation::gelu_sigmoid), near({0.845795765932821, -0.154204234067179, -0.064341376855792}));
}

TEST(Linear, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var x = t.random({3, 4}), w = t.random({5, 2});
  EXPECT_THAT(error_of([&] { linear(t.cx, x, w, Var()); }), AllOf(HasSubstr("(3,4)"), HasSubstr("(5,2)")));
  EXPECT_THAT(error_of([&] {
                linear(t.cx, x, t.random({5, 4}), t.random({4}));
              }),
              AllOf(HasSubstr("(4)"), HasSubstr("(5)")));
}

// A ReLU that a library fuses with a product turns NaN into 0.
TEST(Linear, HidesNoNanBehindReluFromWhoLooksForIt) {
  for (const Backend* b : {&backend("reference"), &backend("cpu"), &gpu_on_host()}) {
    ByHand t(*b, DType::f32);
    t.cx.shows_nan = true;
    const Var x = t.var({1, 2}, {std::nan(""), 1}), w = t.random({4, 2}), bias = t.random({4});
    linear(t.cx, x, w, bias, Activation::relu);
    const auto bad = first_bad_output(t.cx.backend, t.arena, t.tape);
    ASSERT_TRUE(bad) << b->name;
    EXPECT_EQ(bad->record, 0) << b->name;
  }
}

TEST(Linear, MasksTheGradientOfAReluHoweverManyReadIt) {
  for (const Backend* b : {&backend("reference"), &backend("cpu"), &gpu_on_host()})
    for (const int readers : {1, 2}) {
      ByHand t(*b, DType::f32);
      const Var h = linear(t.cx, t.random({9, 6}, 1), t.random({40, 6}, 2), Var(), Activation::relu);
      const Var down = t.random({5, 40}, 3), y = linear(t.cx, h, down, Var());
      t.backward(readers == 1 ? y : residual(t.cx, y, linear(t.cx, h, down, Var()), {}), normals(45, 4));
      const std::vector<double> value = values_of(h), gradient = values_of(h.node()->gradient);
      for (size_t i = 0; i < value.size(); ++i)
        ASSERT_TRUE(value[i] > 0 || gradient[i] == 0) << b->name << ", " << readers << " readers, element " << i;
    }
}

TEST(Linear, TakesRowsThatLieApart) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var wide = t.random({3, 7}), w = t.random({5, 4}, 1), b = t.random({5}, 2);
    const Var apart = columns(wide, 2, 4);
    const Var together(tensor_of(t.arena, {3, 4}, values_of(apart), DType::f32));
    expect_close(values_of(linear(t.cx, apart, w, b)), values_of(linear(t.cx, together, w, b)), 1e-6, name);
  }
}

}  // namespace
}  // namespace dragoman
