#include <gtest/gtest.h>

#include "ops/linear.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

Tensor pack(const Backend& backend, Arena& arena, const Tensor& w) {
  const Tensor packed = arena.allocate({backend.packed_elements(w.rows(), w.cols())}, w.dtype());
  backend.pack(packed, w);
  return packed;
}

OpCase packed_case(int64_t N, int64_t K, int64_t D, Activation act, bool with_bias) {
  OpCase c{fmt::format("{} rows {} to {} {}", N, K, D, name_of(act)), {{"x", {N, K}}, {"w", {D, K}}, {"b", {D}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    const Tensor& w = in.at("w");
    const Var y = cx.make({N, D}, w.dtype());
    cx.backend.linear_packed(y, in.at("x"), pack(cx.backend, cx.arena, w), with_bias ? in.at("b").value() : Tensor(),
                             act);
    return y;
  };
  c.differences = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    LinearPacked, OpCheck,
    testing::Values(packed_case(0, 3, 5, Activation::none, true), packed_case(1, 1, 1, Activation::none, true),
                    packed_case(3, 17, 33, Activation::none, false), packed_case(17, 33, 3, Activation::relu, true),
                    packed_case(33, 3, 64, Activation::relu, false), packed_case(14, 500, 100, Activation::none, true)),
    name_of_case);

// A row alone, in another place, among more rows, on one thread or two: the same bits. This is why a line's
// translation depends neither on the batch nor on --cpu-threads.
TEST(LinearPacked, GivesARowTheSameBitsWhateverItsNeighboursAndThreads) {
  for_each_target([] {
    for (const int64_t D : {1, 31, 32, 33, 97})
      for (const int64_t K : {1, 3, 17, 130}) {
        ByHand t("cpu", DType::f32);
        constexpr int64_t N = 29;
        const Var x = t.random({N, K}), w = t.random({D, K}, 1), b = t.random({D}, 2);
        const Tensor packed = pack(t.cx.backend, t.arena, w);
        const auto product = [&](int64_t first, int64_t count) {
          const Tensor y = t.empty({count, D});
          t.cx.backend.linear_packed(y, x.value().row_range(first, count), packed, b, Activation::none);
          return values_of(y);
        };
        const Threads one(1);
        const std::vector<double> all = product(0, N);
        {
          const Threads two(2);
          EXPECT_EQ(product(0, N), all);
        }
        for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 1}, {28, 1}, {5, 2}, {11, 13}, {1, 28}}) {
          const std::vector<double> part = product(first, count);
          EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first * D))
              << count << " rows from " << first << ", " << K << " to " << D;
        }
      }
  });
}

TEST(Linear, TakesPackedWeightsWhereTheContextHasThemAndNoTape) {
  ByHand t("cpu", DType::f32);
  const Var x = t.random({5, 9}), w = t.random({7, 9}, 1), b = t.random({7}, 2);
  const Var other = t.random({7, 9}, 3);
  const PackedWeights packed{{w.value().data(), pack(t.cx.backend, t.arena, other)}};  // another weight, to see it used
  Context decoding{.backend = t.cx.backend, .arena = t.arena, .packed = &packed};
  expect_close(values_of(linear(decoding, x, w, b)), values_of(linear(t.cx, x, other, b)), 1e-5, "packed");
  Context training{.backend = t.cx.backend, .arena = t.arena, .tape = &t.tape, .packed = &packed};
  EXPECT_EQ(values_of(linear(training, x, w, b)), values_of(linear(t.cx, x, w, b)));
}

}  // namespace
}  // namespace dragoman
