#include "autodiff/tape.h"

#include <gmock/gmock.h>

#include "ops/dropout.h"
#include "ops/linear.h"
#include "ops/norm.h"
#include "ops/rows.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

// y = x + x + x: a value used several times accumulates the gradient of each use.
TEST(Tape, AddsTheGradientsOfAllUsesOfAValue) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.var({1, 2}, {5, 7});
    const Var twice = residual(t.cx, x, x, {});
    const Var y = residual(t.cx, twice, x, {});
    EXPECT_THAT(values_of(y), ElementsAre(15, 21));
    t.backward(y, {1, 10});
    EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(3, 30)) << name;
  }
}

// A residual passes its gradient on without a copy; the backward pass of the relu before it reuses that memory.
TEST(Tape, PassesMemoryOnWithoutMixingGradients) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.var({1, 1}, {1}), w = t.var({2, 1}, {1, -1}), r = t.var({1, 2}, {3, 4});
    const Var y = residual(t.cx, linear(t.cx, x, w, Var(), Activation::relu), r, {});
    t.backward(y, {2, 5});
    EXPECT_THAT(values_of(r.node()->gradient), ElementsAre(2, 5)) << name;
    EXPECT_THAT(values_of(w.node()->gradient), ElementsAre(2, 0)) << name;
  }
}

TEST(Tape, SkipsWhatReceivedNoGradient) {
  ByHand t;
  const Var x = t.random({2, 3});
  activation(t.cx, x, Activation::gelu);  // its result is not used
  const Var y = activation(t.cx, x, Activation::none);
  t.backward(y, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Tape, KeepsNothingAfterBackward) {
  ByHand t;
  const Var x = t.random({64, 32}), w = t.random({32, 32}, 1), g = t.random({32}, 2), b = t.random({32}, 3);
  for (const Var& leaf : {x, w, g, b}) leaf.node()->gradient = t.empty(leaf.shape());
  const int64_t before = t.arena.in_use();
  {
    Var y = x;
    for (int layer = 0; layer < 4; ++layer) y = layer_norm(t.cx, linear(t.cx, y, w, b, Activation::swish), g, b);
    EXPECT_EQ(t.tape.size(), 12u);  // product, activation and norm of four layers
    t.backward(y, normals(64 * 32, 9));
  }
  EXPECT_EQ(t.tape.size(), 0u);
  EXPECT_EQ(t.arena.in_use(), before);
}

// The backward pass frees as it runs: its peak is the forward pass plus a layer or two, not twice the forward pass.
TEST(Tape, FreesSavedTensorsDuringBackward) {
  ByHand t;
  Var y = t.random({100, 100}), w = t.random({100, 100}, 1);
  constexpr int layers = 20;
  const int64_t matrix = 100 * 100 * 8;
  for (int layer = 0; layer < layers; ++layer) y = linear(t.cx, y, w, Var());
  const int64_t forward = t.arena.in_use();
  EXPECT_GE(forward, layers * matrix);
  t.backward(y, normals(100 * 100, 9));
  EXPECT_LE(t.arena.peak(), forward + 5 * matrix);
}

TEST(Tape, RecordsNothingWithoutOne) {
  ByHand t;
  t.cx.tape = nullptr;
  const Var y = activation(t.cx, t.random({2, 3}), Activation::relu);
  EXPECT_EQ(t.tape.size(), 0u);
  EXPECT_EQ(y.node(), nullptr);
}

TEST(Columns, ShareMemoryAndEachWriteTheirPartOfTheGradient) {
  ByHand t;
  const Var x = t.var({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Var whole = activation(t.cx, x, Activation::none);
  const Var left = columns(whole, 0, 1), right = columns(whole, 1, 3);
  EXPECT_THAT(values_of(right), ElementsAre(2, 3, 4, 6, 7, 8));
  const Var a = activation(t.cx, left, Activation::none), b = activation(t.cx, right, Activation::none);
  a.node()->gradient = tensor_of(t.arena, {2, 1}, {10, 20});
  a.node()->written = true;
  t.backward(b, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(10, 1, 2, 3, 20, 4, 5, 6));
}

TEST(Columns, OfColumnsWriteIntoTheSameMatrix) {
  ByHand t;
  const Var x = t.var({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Var whole = activation(t.cx, x, Activation::none);
  const Var right = columns(whole, 1, 3);
  std::vector<Var> parts{columns(whole, 0, 1), columns(right, 0, 2), columns(right, 2, 1)};
  EXPECT_THAT(values_of(parts[2]), ElementsAre(4, 8));
  for (Var& part : parts) {
    part = activation(t.cx, part, Activation::none);
    part.node()->gradient = tensor_of(t.arena, part.shape(), values_of(part));
    part.node()->written = true;
  }
  t.tape.backward(t.cx.backend, t.arena);
  EXPECT_EQ(values_of(x.node()->gradient), values_of(x));
}

// The second column is read by its own view and as a part of x, the others only as parts of x or not at all.
TEST(Columns, SomeOfThemAddToTheGradientOfOtherReaders) {
  for (const bool with_whole : {false, true}) {
    ByHand t;
    const Var x = activation(t.cx, t.var({2, 3}, {1, 2, 3, 4, 5, 6}), Activation::none);
    Var y = activation(t.cx, some_columns(x, 1, 1), Activation::none);
    EXPECT_THAT(values_of(y), ElementsAre(2, 5));
    if (with_whole) {
      const Var whole = activation(t.cx, x, Activation::none);
      whole.node()->gradient = tensor_of(t.arena, {2, 3}, {10, 20, 30, 40, 50, 60});
      whole.node()->written = true;
    }
    y.node()->gradient = tensor_of(t.arena, {2, 1}, {1, 2});
    y.node()->written = true;
    t.tape.backward(t.cx.backend, t.arena);
    EXPECT_EQ(values_of(x.node()->gradient),
              with_whole ? (std::vector<double>{10, 21, 30, 40, 52, 60}) : (std::vector<double>{0, 1, 0, 0, 2, 0}));
  }
  ByHand t;
  const Var x = t.random({2, 3});
  EXPECT_EQ(some_columns(x, 0, 3).node(), x.node());
}

TEST(Columns, OfAFrozenMatrixTakeNoGradient) {
  ByHand t;
  EXPECT_EQ(columns(t.constant({1, 2}, {1, 2}), 0, 1).node(), nullptr);
}

// Views of rows may overlap and omit rows; rows in no view have a gradient of zero.
TEST(Tape, GathersTheGradientsOfRowsInTheMatrixTheyAreOf) {
  for (const char* name : {"reference", "cpu"}) {
    ByHand t(name, DType::f32);
    const Var x = t.var({4, 1}, {1, 2, 3, 4});
    const Var y = residual(t.cx, rows(x, 0, 2), rows(x, 1, 2), {});
    EXPECT_THAT(values_of(y), ElementsAre(3, 5)) << name;
    t.backward(y, {10, 100});
    EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(10, 110, 100, 0)) << name;
  }
}

// One column is used as a whole and by rows, the other only by rows.
TEST(Tape, GathersTheGradientsOfRowsOfColumns) {
  ByHand t;
  const Var x = t.var({3, 2}, {1, 2, 3, 4, 5, 6});
  const Var left = columns(x, 0, 1), right = columns(x, 1, 1);
  const Var y = residual(t.cx, left, left, {});
  const Var z = residual(t.cx, rows(left, 1, 1), rows(right, 2, 1), {}),
            w = residual(t.cx, rows(right, 1, 2), rows(right, 0, 2), {});
  t.backward(stack_rows(t.cx, {y, z, w}), {1, 1, 1, 10, 100, 1000});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(2, 100, 12, 1100, 2, 1010));
}

// The whole is also used by itself, before and after its rows.
TEST(Tape, AddsTheGradientsOfRowsToThoseOfTheWhole) {
  ByHand t;
  const Var x = t.var({3, 1}, {1, 2, 3});
  const Var part = residual(t.cx, rows(x, 2, 1), rows(rows(x, 1, 2), 0, 1), {});
  const Var y = residual(t.cx, x, residual(t.cx, x, x, {}), {});
  t.backward(stack_rows(t.cx, {y, part}), {1, 1, 1, 5});
  EXPECT_THAT(values_of(x.node()->gradient), ElementsAre(3, 8, 8));
}

}  // namespace
}  // namespace dragoman
