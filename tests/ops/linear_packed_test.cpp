#include <gtest/gtest.h>

#include "backend/backend.h"
#include "io/int8_weights.h"
#include "ops/linear.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

constexpr const char* all_backends[] = {"reference", "cpu", "gpu kernels on the host"};

Tensor pack(const Backend& backend, Arena& arena, const Tensor& w, DType type) {
  const Tensor packed = arena.allocate({backend.packed_elements(w.rows(), w.cols(), type)}, type);
  backend.pack(packed, w);
  return packed;
}

void product(const Backend& backend, Arena& arena, const Tensor& y, const Tensor& x, const Tensor& packed,
             const Tensor& b, Activation act) {
  const int64_t bytes = backend.linear_packed_scratch(x.rows(), x.cols(), packed.dtype());
  backend.linear_packed(y, x, packed, b, act, arena.allocate({bytes + 1}, DType::u8));
}

OpCase packed_case(int64_t N, int64_t K, int64_t D, Activation act, bool with_bias) {
  OpCase c{fmt::format("{} rows {} to {} {}", N, K, D, name_of(act)), {{"x", {N, K}}, {"w", {D, K}}, {"b", {D}}}};
  c.op = [=](Context& cx, const OpInputs& in) {
    const Tensor& w = in.at("w");
    const Var y = cx.make({N, D}, w.dtype(), {});
    product(cx.backend, cx.arena, y, in.at("x"), pack(cx.backend, cx.arena, w, w.dtype()),
            with_bias ? in.at("b").value() : Tensor(), act);
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

// A row gives the same bits alone, at another position, among more rows, and on one or two threads. This is why a
// line's translation depends neither on the batch nor on --cpu-threads.
class LinearPackedRow : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, LinearPackedRow, testing::Values(DType::f32, DType::bf16, DType::i8),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(LinearPackedRow, HasTheSameBitsWhateverItsNeighboursAndThreads) {
  for_each_target([type = GetParam()] {
    for (const int64_t D : {1, 31, 63, 64, 65, 97, 129})
      for (const int64_t K : {1, 3, 17, 130}) {
        ByHand t("cpu", DType::f32);
        constexpr int64_t N = 29;
        const Var x = t.random({N, K}), w = t.random({D, K}, 1), b = t.random({D}, 2);
        const Tensor packed = pack(t.cx.backend, t.arena, w, type);
        const auto product = [&](int64_t first, int64_t count) {
          const Tensor y = t.empty({count, D});
          dragoman::product(t.cx.backend, t.arena, y, x.value().row_range(first, count), packed, b, Activation::none);
          return values_of(y);
        };
        const Threads one(1);
        const std::vector<double> all = product(0, N);
        for (const int threads : {2, 7}) {
          const Threads more(threads);
          EXPECT_EQ(product(0, N), all);
        }
        for (const auto& [first, count] :
             {std::pair<int64_t, int64_t>{0, 1}, {28, 1}, {5, 2}, {3, 3}, {7, 9}, {11, 13}, {1, 28}}) {
          const std::vector<double> part = product(first, count);
          EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first * D))
              << count << " rows from " << first << ", " << K << " to " << D;
        }
      }
  });
}

// The chain of multiply-adds is the same as in f32 with rounded weights: the same bits.
TEST(LinearPacked, InBFloat16IsTheProductWithRoundedWeights) {
  for_each_target([] {
    for (const char* name : {"reference", "cpu"})
      for (const auto& [N, K, D] :
           {std::tuple(1, 1, 1), std::tuple(3, 17, 33), std::tuple(14, 130, 100), std::tuple(400, 5, 65)}) {
        ByHand t(name, DType::f32);
        const std::vector<double> weights = normals(D * K, 1);
        std::vector<double> rounded = weights;
        for (double& v : rounded) v = double(float(bfloat16(float(v))));
        const Var x = t.random({N, K}), b = t.random({D}, 2);
        const Tensor half = t.empty({N, D}), full = t.empty({N, D});
        const auto packed = [&](const std::vector<double>& values, DType type) {
          return pack(t.cx.backend, t.arena, t.constant({D, K}, values), type);
        };
        product(t.cx.backend, t.arena, half, x, packed(weights, DType::bf16), b, Activation::relu);
        product(t.cx.backend, t.arena, full, x, packed(rounded, DType::f32), b, Activation::relu);
        EXPECT_EQ(values_of(half), values_of(full)) << name << ", " << K << " to " << D;
      }
  });
}

// Selected rows of a packed weight form a packed weight that gives their columns of the product, bit for bit.
TEST_P(LinearPackedRow, CanBeSelected) {
  for_each_target([type = GetParam()] {
    for (const char* name : all_backends)
      for (const int64_t D : {1, 33, 65, 129})
        for (const int64_t K : {1, 3, 17, 130}) {
          ByHand t(test_backend(name), DType::f32);
          constexpr int64_t N = 5;
          const Var x = t.random({N, K}), w = t.random({D, K}, 1);
          std::vector<int32_t> rows;
          for (int32_t d = 0; d < D; d += 1 + d % 3) rows.push_back(d);
          const auto R = int64_t(rows.size());
          const Tensor packed = pack(t.cx.backend, t.arena, w, type),
                       part = t.arena.allocate({t.cx.backend.packed_elements(R, K, type)}, type);
          t.cx.backend.select_packed(part, packed, int_tensor(rows, {R}), D, K);
          const Tensor whole = t.empty({N, D}), some = t.empty({N, R});
          product(t.cx.backend, t.arena, whole, x, packed, Tensor(), Activation::none);
          product(t.cx.backend, t.arena, some, x, part, Tensor(), Activation::none);
          const std::vector<double> of_whole = values_of(whole), of_some = values_of(some);
          for (int64_t n = 0; n < N; ++n)
            for (int64_t r = 0; r < R; ++r)
              EXPECT_EQ(of_some[n * R + r], of_whole[n * D + rows[r]]) << name << " " << D << " " << K;
        }
  });
}

std::vector<double> int8_product(ByHand& t, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  const Tensor y = t.empty({x.rows(), w.rows()});
  product(t.cx.backend, t.arena, y, x, pack(t.cx.backend, t.arena, w, DType::i8), b, act);
  return values_of(y);
}

// The largest of x is 2, so x is -127, 64 (63.5 rounds to even) and 0 times 2/127; w is 127, -127, 127 times 1 and, in
// the second column, all 0. Σ = -16,129 - 8,128.
TEST(LinearInt8, RoundsRowsToTheirOwnScale) {
  for (const char* name : all_backends) {
    ByHand t(test_backend(name), DType::f32);
    const Var x = t.var({1, 3}, {-2, 1, 0}), w = t.var({2, 3}, {127, -127, 127, 0, 0, 0}), b = t.var({2}, {1, -3});
    const auto y = int8_product(t, x, w, b, Activation::none);
    EXPECT_NEAR(y[0], (-16129 - 8128) * 2.0 / 127 + 1, 1e-4) << name;
    EXPECT_EQ(y[1], -3) << name;
    EXPECT_EQ(int8_product(t, x, w, b, Activation::relu), (std::vector<double>{0, 0})) << name;
  }
}

// Scales are 1: x is 127, 62 and -2, and Σ = 127 · (127 + 62 - 2).
TEST(LinearInt8, RoundsHalvesToTheEvenNumber) {
  for (const char* name : all_backends) {
    ByHand t(test_backend(name), DType::f32);
    const Var x = t.var({1, 3}, {127, 62.5, -1.5}), w = t.var({1, 3}, {127, 127, 127});
    EXPECT_EQ(int8_product(t, x, w, Tensor(), Activation::none), std::vector<double>{23749}) << name;
  }
}

// The largest products, all of the same sign: kernels that add in 16 bits would lose most of the sum.
TEST(LinearInt8, DoesNotSaturate) {
  for_each_target([] {
    for (const double sign : {1.0, -1.0}) {
      ByHand t("cpu", DType::f32);
      const Var x = t.var({5, 1000}, std::vector<double>(5000, sign)),
                w = t.var({33, 1000}, std::vector<double>(33000, 1));
      for (double y : int8_product(t, x, w, Tensor(), Activation::none)) EXPECT_NEAR(y, 1000 * sign, 1e-3);
    }
  });
}

TEST(LinearInt8, GivesTheSameBitsOnEveryInstructionSetAsReference) {
  for (const int64_t N : {0, 1, 3, 29})
    for (const int64_t K : {1, 3, 17, 130, 515})
      for (const int64_t D : {1, 31, 33, 97}) {
        const auto y = [&](const char* name) {
          ByHand t(name, DType::f32);
          return int8_product(t, t.random({N, K}), t.random({D, K}, 1), t.random({D}, 2), Activation::relu);
        };
        const std::vector<double> expected = y("reference");
        for_each_target([&] { EXPECT_EQ(y("cpu"), expected) << N << " rows " << K << " to " << D; });
      }
}

// Sums of integers are exact and the operations after them have a fixed order, so GPUs give the reference's bits too:
// by the library or by their own kernel, for any number of rows and columns and any row stride of y.
void expect_bits_of_the_reference(const std::string& gpu) {
  for (const int64_t N : {0, 1, 16, 17, 29})
    for (const int64_t K : {1, 17, 130})
      for (const int64_t D : {1, 33, 36})
        for (const bool apart : {false, true}) {
          const auto y = [&](const std::string& name) {
            ByHand t(test_backend(name), DType::f32);
            t.cx.backend.fill(t.empty({1 << 16}), 3);  // memory of the next tensors
            const Tensor whole = t.empty({N, apart ? 2 * D : D}), part = whole.columns(0, D);
            const Var w = t.random({D, K}, 1), b = apart ? Var() : t.random({D}, 2);
            product(t.cx.backend, t.arena, part, t.random({N, K}), pack(t.cx.backend, t.arena, w, DType::i8), b,
                    apart ? Activation::none : Activation::relu);
            return values_of(part);
          };
          EXPECT_EQ(y(gpu), y("reference")) << N << " rows " << K << " to " << D << (apart ? ", apart" : "");
        }
}

TEST(LinearInt8, KernelsForGpusAgreeWithTheReferenceToTheBit) {
  expect_bits_of_the_reference("gpu kernels on the host");
}

TEST(LinearInt8, GpusAgreeWithTheReferenceToTheBit) {
  if (const std::string reason = why_no_gpu(); !reason.empty()) GTEST_SKIP() << reason;
  expect_bits_of_the_reference("gpu");
}

// Kernels split rows into tiles of different sizes.
TEST(LinearInt8, ComputesEveryNumberOfRows) {
  for (int64_t N = 1; N <= 40; ++N) {
    const auto y = [&](const char* name) {
      ByHand t(name, DType::f32);
      return int8_product(t, t.random({N, 35}), t.random({33, 35}, 1), t.random({33}, 2), Activation::none);
    };
    const std::vector<double> expected = y("reference");
    for_each_target([&] { EXPECT_EQ(y("cpu"), expected) << N << " rows"; });
  }
}

// x is (127, -127) times 1. The first part of w is (1, 2) times 10, though neither is ±127; the other's rows are (0, 0)
// times 0 and (3, 0) times 0.5.
TEST(LinearInt8, TakesRoundedRowsAsTheyAre) {
  for_each_target([] {
    for (const char* name : all_backends) {
      ByHand t(test_backend(name), DType::f32);
      int8_t q[] = {1, 2, 0, 0, 3, 0};
      float scales[] = {10, 0, 0.5};
      const std::vector<RoundedRows> parts = {{Tensor::borrow(q, {1, 2}), Tensor::borrow(scales, {1})},
                                              {Tensor::borrow(q + 2, {2, 2}), Tensor::borrow(scales + 1, {2})}};
      const Tensor packed = t.arena.allocate({t.cx.backend.packed_elements(3, 2, DType::i8)}, DType::i8);
      t.cx.backend.pack_rounded(packed, parts);
      const Tensor y = t.empty({1, 3});
      product(t.cx.backend, t.arena, y, t.var({1, 2}, {127, -127}), packed, Tensor(), Activation::none);
      EXPECT_EQ(values_of(y), (std::vector<double>{-1270, 0, 190.5})) << name;
    }
  });
}

std::string bytes_of(const Tensor& t) {
  const Tensor host = t.on_host();
  return {static_cast<const char*>(host.data()), size_t(host.bytes())};
}

// Weights that were rounded once give the same bytes as floats or as integers, in any number of parts.
TEST(LinearInt8, PacksRoundedRowsToTheBytesThatTheirFloatsGive) {
  for_each_target([] {
    for (const char* name : all_backends)
      for (const int64_t D : {1, 31, 33, 97})
        for (const int64_t K : {1, 3, 17, 256, 515}) {
          ByHand t(test_backend(name), DType::f32), host("reference", DType::f32);
          std::vector<double> values = normals(D * K, 1);
          if (D > 5) std::fill_n(values.begin() + 5 * K, K, 0);
          const Var w = t.constant({D, K}, values);
          const Tensor q = host.arena.allocate({D, K}, DType::i8), scales = host.arena.allocate({D}, DType::f32);
          round_rows(q, scales, host.constant({D, K}, values), "w");
          std::vector<RoundedRows> parts;
          for (int64_t d = 0, rows = 1; d < D; d += rows, rows = std::min(3 * rows, D - d))
            parts.push_back({q.row_range(d, rows), scales.row_range(d, rows)});
          const Tensor of_floats = pack(t.cx.backend, t.arena, w, DType::i8);
          const Tensor of_rows = t.arena.allocate(of_floats.shape(), DType::i8);
          const std::vector<int8_t> other(size_t(of_rows.bytes()), -99);
          of_rows.assign(Tensor::borrow(other.data(), of_rows.shape()));
          t.cx.backend.pack_rounded(of_rows, parts);
          EXPECT_EQ(bytes_of(of_rows), bytes_of(of_floats)) << name << ", " << K << " to " << D;
        }
  });
}

TEST(Linear, TakesPackedWeightsWhereTheContextHasThemAndNoTape) {
  ByHand t("cpu", DType::f32);
  const Var x = t.random({5, 9}), w = t.random({7, 9}, 1), b = t.random({7}, 2);
  const Var other = t.random({7, 9}, 3);
  const PackedWeights packed{
      {w.value().data(), pack(t.cx.backend, t.arena, other, DType::f32)}};  // another weight, to show that it is used
  Context decoding{.backend = t.cx.backend, .arena = t.arena, .packed = &packed};
  expect_close(values_of(linear(decoding, x, w, b)), values_of(linear(t.cx, x, other, b)), 1e-5, "packed");
  Context training{.backend = t.cx.backend, .arena = t.arena, .tape = &t.tape, .packed = &packed};
  EXPECT_EQ(values_of(linear(training, x, w, b)), values_of(linear(t.cx, x, w, b)));
}

}  // namespace
}  // namespace dragoman
