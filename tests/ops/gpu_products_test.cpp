#include <gtest/gtest.h>

#include "backend/backend.h"
#include "ops/linear.h"
#include "ops/loss.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

// How products on GPUs use cuBLASLt (src/backend/cuda/gemm.cpp), with its stand-in on the host.
namespace dragoman {
namespace {

class ProductsOnGpus : public testing::Test, protected ByHand {
 protected:
  ProductsOnGpus() : ByHand(gpu_on_host(), DType::f32) { cx.rounded = &rounded_; }

  /// A weight that products multiply in bfloat16.
  Var weight(Shape shape, uint64_t stream) {
    const Var w = random(shape, stream);
    const Tensor half = arena.allocate(shape, DType::bf16);
    cx.backend.copy(half, w);
    rounded_.copies.emplace(w.value().data(), half);
    return w;
  }
  static int64_t slow_products() { return gpu_on_host().memory->counts().slow_products; }

 private:
  RoundedWeights rounded_;
};

// With an odd number of 16-bit columns, contiguous rows would start at odd multiples of 2 bytes, for which libraries
// have slow kernels or none.
TEST_F(ProductsOnGpus, AreTheLibrarysForAnOddNumberOfColumnsToo) {
  const int64_t before = slow_products();
  const Var x = random({6, 16}, 1), w = weight({131, 16}, 2), gate = weight({1, 16}, 3), b = var({1}, {0.5});
  backward(linear(cx, x, gate, b), normals(6, 4));
  linear_cross_entropy(cx, x, w, int_tensor({3, 1, 4, 1, 5, 130}, {6}), 0.1);
  EXPECT_EQ(slow_products(), before);
}

TEST_F(ProductsOnGpus, AreCountedWhereTheLibraryHasNoKernel) {
  const int64_t before = slow_products();
  linear(cx, random({6, 5}, 1), weight({4, 5}, 2), Var());
  EXPECT_EQ(slow_products(), before + 1);
}

// The stand-in finds odd strides in w to be invalid, and those in x not supported.
TEST_F(ProductsOnGpus, AreComputedWhicheverWayTheLibrarySaysThatItHasNoKernel) {
  const auto even = [&](int64_t rows, uint64_t stream) {
    const Tensor half = arena.allocate({rows, 6}, DType::bf16);
    cx.backend.copy(half, random({rows, 6}, stream));
    return half.columns(0, 5);
  };
  const auto odd = [&](const Tensor& even) {
    const Tensor narrow = arena.allocate({even.rows(), 5}, DType::bf16), values = even.on_host();
    std::vector<bfloat16> rows;
    for (int64_t n = 0; n < even.rows(); ++n)
      rows.insert(rows.end(), values.view<bfloat16>().row(n), values.view<bfloat16>().row(n) + 5);
    narrow.assign(Tensor::borrow(rows.data(), {even.rows(), 5}));
    return narrow;
  };
  const Tensor x = even(6, 1), w = even(4, 2), b = random({4}, 3), expected = empty({6, 4}), actual = empty({6, 4});
  cx.backend.linear(expected, x, w, b, Activation::relu);
  const int64_t before = slow_products();
  for (const auto& [some_x, some_w] : {std::pair(odd(x), w), std::pair(x, odd(w))}) {
    cx.backend.linear(actual, some_x, some_w, b, Activation::relu);
    expect_close(values_of(actual), values_of(expected), 1e-5, "y");
  }
  EXPECT_EQ(slow_products(), before + 2);
}

// Each product is one question: none is asked again without its bias or its rounding.
TEST_F(ProductsOnGpus, RoundTheirResultsInTheLibrary) {
  for (const DType half : {DType::bf16, DType::f16}) {
    const auto rounded = [&](Shape shape) {
      const Tensor x = arena.allocate(shape, half);
      cx.backend.copy(x, random(shape));
      return x;
    };
    const Tensor x = rounded({8, 6}), w = rounded({4, 6}), b = rounded({4}), y = rounded({8, 4}), dx = rounded({8, 6});
    const int64_t before = heuristics_on_host(), slow = slow_products();
    cx.backend.linear(y, x, w, b, Activation::relu);
    cx.backend.linear(y, x, w, Tensor(), Activation::none);
    cx.backend.linear_backward_input(Grad{dx, Accumulate::yes}, y, w);
    EXPECT_EQ(heuristics_on_host() - before, 3) << name_of(half);
    EXPECT_EQ(slow_products(), slow);
  }
}

// Our own kernel sums, whatever the number of columns, so cuBLASLt is asked for one kernel.
TEST_F(ProductsOnGpus, LeaveTheGradientOfABiasToAPassOfItsOwn) {
  for (const int64_t D : {40, 41}) {
    const Tensor dz = random({16, D}, 1), x = random({16, 20}, 2), dw = empty({D, 20}), db = empty({D});
    std::vector<double> once(D), twice(D);
    for (int64_t i = 0; i < 16 * D; ++i) once[i % D] += values_of(dz)[i], twice[i % D] += 2 * values_of(dz)[i];
    const int64_t before = heuristics_on_host(), slow = slow_products();
    cx.backend.linear_backward_weight(Grad{dw}, Grad{db}, dz, x);
    EXPECT_EQ(heuristics_on_host() - before, 1);
    expect_close(values_of(db), once, 1e-6, "db");
    cx.backend.linear_backward_weight(Grad{dw}, Grad{db, Accumulate::yes}, dz, x);
    expect_close(values_of(db), twice, 1e-6, "db, added");
    EXPECT_EQ(slow_products(), slow);
  }
}

// Numbers of tokens differ from batch to batch. Up to 128 there are 16 rounded ones, and 8 in each doubling after.
TEST_F(ProductsOnGpus, ReuseTheLibrarysChoiceForSimilarNumbersOfTokens) {
  const Tensor w = random({4, 4}, 1), x = random({1024, 4}, 2), y = empty({1024, 4});
  const int64_t before = heuristics_on_host();
  for (int64_t rows = 4; rows <= 1024; ++rows)
    cx.backend.linear(y.row_range(0, rows), x.row_range(0, rows), w, Tensor(), Activation::none);
  EXPECT_EQ(heuristics_on_host() - before, 16 + 3 * 8);
}

// The stand-in's kernel for 8 rows does not serve 1 to 3.
TEST_F(ProductsOnGpus, AskAgainIfTheChoiceForMoreTokensDoesNotServe) {
  const Tensor w = random({4, 8}, 1), x = random({3, 8}, 2), y = empty({3, 4}), one = empty({1, 4});
  const int64_t before = heuristics_on_host(), slow = slow_products();
  cx.backend.linear(y, x, w, Tensor(), Activation::none);
  EXPECT_EQ(heuristics_on_host() - before, 2);
  cx.backend.linear(one, x.row_range(0, 1), w, Tensor(), Activation::none);
  EXPECT_EQ(heuristics_on_host() - before, 3) << "for 8 rows it has been asked";
  EXPECT_EQ(slow_products(), slow);
  EXPECT_EQ(values_of(one), values_of(y.row_range(0, 1)));
}

}  // namespace
}  // namespace dragoman
