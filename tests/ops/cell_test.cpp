#include <gmock/gmock.h>

#include <cmath>

#include "ops/recurrent.h"
#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// One step from a given state, then a second one from the new state of the first n sentences, so that both outputs of
// the first step are used.
OpCase two_steps(Cell kind, int64_t rows, int64_t n, int64_t cols) {
  const int64_t gates = gates_of(kind) * cols;
  std::vector<OpInput> inputs{{"a", {rows, gates}}, {"s", {rows, gates}}, {"b", {n, gates}}, {"state", {rows, cols}}};
  return {fmt::format("{}: {} and {} rows of {}", name_of(kind), rows, n, cols), inputs,
          [=](Context& cx, const OpInputs& in) {
            const Var& before = in.at("state");
            const CellState state = kind == Cell::gru ? CellState{before, Var()} : CellState{Var(), before};
            const CellState first = cell(cx, kind, in.at("a"), in.at("s"), state);
            const CellState part{dragoman::rows(first.h, 0, n), first.c ? dragoman::rows(first.c, 0, n) : Var()};
            const CellState second = cell(cx, kind, in.at("b"), Var(), part);
            return stack_rows(cx, {first.h, second.h});
          }};
}

// From an empty state: no product of a state, no previous state.
OpCase first_step(Cell kind, int64_t rows, int64_t cols) {
  return {fmt::format("{}: from nothing, {} x {}", name_of(kind), rows, cols),
          {{"a", {rows, gates_of(kind) * cols}}},
          [=](Context& cx, const OpInputs& in) { return cell(cx, kind, in.at("a"), Var(), {}).h; }};
}

INSTANTIATE_TEST_SUITE_P(Cell, OpCheck,
                         testing::Values(first_step(Cell::gru, 0, 3), first_step(Cell::lstm, 3, 17),
                                         first_step(Cell::gru, 5, 33), two_steps(Cell::gru, 1, 1, 1),
                                         two_steps(Cell::gru, 17, 3, 33), two_steps(Cell::lstm, 1, 1, 1),
                                         two_steps(Cell::lstm, 17, 5, 33), two_steps(Cell::lstm, 3, 3, 16)),
                         name_of_case);

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Previous h = 3. Reset 0.5 halves the state's share of the candidate: tanh(1 + 0.5 · 2); update σ(ln 3) = 3/4 is kept.
TEST(Cell, OfAGruMovesTheStateByWhatTheUpdateGateLetsIn) {
  ByHand t;
  const Var a = t.constant({1, 3}, {0, std::log(3.0), 1}), s = t.constant({1, 3}, {0, 0, 2});
  const CellState now = cell(t.cx, Cell::gru, a, s, {t.constant({1, 1}, {3}), Var()});
  EXPECT_NEAR(values_of(now.h)[0], 0.25 * std::tanh(2) + 0.75 * 3, 1e-12);
  EXPECT_FALSE(now.c);
}

TEST(Cell, OfAnLstmForgetsTakesInAndShows) {
  ByHand t;
  const Var a = t.constant({1, 4}, {1, 2, 3, 4}), s = t.constant({1, 4}, {0.5, -1, -2, -4});
  const CellState now = cell(t.cx, Cell::lstm, a, s, {t.constant({1, 1}, {9}), t.constant({1, 1}, {2})});
  const double c = sigmoid(1) * 2 + sigmoid(1.5) * std::tanh(1);
  EXPECT_NEAR(values_of(now.c)[0], c, 1e-12);
  EXPECT_NEAR(values_of(now.h)[0], 0.5 * std::tanh(c), 1e-12);
}

TEST(Cell, HandlesGatesOfAnyMagnitude) {
  for_each_target([] {
    ByHand t("cpu", DType::f32);
    const Var far = t.var({2, 3}, {-3e38, -3e38, 3e38, 3e38, 3e38, -3e38});
    const CellState now = cell(t.cx, Cell::gru, far, Var(), {t.constant({2, 1}, {0.5, 0.25}), Var()});
    expect_close(values_of(now.h), {1, 0.25}, 1e-6, "state");
    t.backward(now.h, {1, 1});
    expect_close(values_of(far.node()->gradient), {0, 0, 0, 0, 0, 0}, 1e-6, "gradient");
  });
}

TEST(Cell, RefusesShapesThatDoNotFitAndNamesThem) {
  ByHand t;
  const Var a = t.random({2, 12}), s = t.random({2, 9}), h = t.random({3, 4});
  EXPECT_THAT(error_of([&] {
                cell(t.cx, Cell::lstm, t.random({2, 6}), Var(), {});
              }),
              AllOf(HasSubstr("(2,6)"), HasSubstr("4·D")));
  EXPECT_THAT(error_of([&] { cell(t.cx, Cell::gru, a, s, {}); }), AllOf(HasSubstr("(2,9)"), HasSubstr("(2,12)")));
  EXPECT_THAT(error_of([&] {
                cell(t.cx, Cell::gru, a, Var(), {h, Var()});
              }),
              AllOf(HasSubstr("(3,4)"), HasSubstr("(2,4)")));
}

}  // namespace
}  // namespace dragoman
