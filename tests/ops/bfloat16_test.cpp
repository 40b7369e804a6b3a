#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "backend/backend.h"
#include "ops/linear.h"
#include "ops/loss.h"
#include "tests/op_check/gpu.h"
#include "tests/op_check/op_check.h"
#include "tests/op_check/values.h"

namespace dragoman {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

// bfloat16 has 7 fraction bits: the neighbours of 1 are 1 ± 2⁻⁷, so 2⁻⁸ is half a step.
TEST(BFloat16, IsTheNearestAndOfTwoTheEvenOne) {
  const float half = 1.0f / 256, little = 1.0f / (1 << 20);
  EXPECT_EQ(bfloat16(1).bits, 0x3f80);
  EXPECT_EQ(bfloat16(1 + half).bits, 0x3f80);
  EXPECT_EQ(bfloat16(1 + half + little).bits, 0x3f81);
  EXPECT_EQ(bfloat16(1 + 3 * half).bits, 0x3f82);
  EXPECT_EQ(bfloat16(-1 - 3 * half).bits, 0xbf82);
  EXPECT_EQ(bfloat16(-0.0f).bits, 0x8000);
  EXPECT_EQ(float(bfloat16(-2.5f)), -2.5f);
}

TEST(BFloat16, KeepsInfinityAndWhatIsNoNumber) {
  EXPECT_EQ(float(bfloat16(infinite)), infinite);
  EXPECT_EQ(float(bfloat16(std::numeric_limits<float>::max())), infinite);  // nearer than the largest bfloat16
  for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u})
    EXPECT_TRUE(std::isnan(float(bfloat16(std::bit_cast<float>(bits))))) << bits;
}

// float16 has 10 fraction bits, normal numbers from 2⁻¹⁴ on, and steps of 2⁻²⁴ below them.
TEST(Float16, IsTheNearestAndOfTwoTheEvenOne) {
  const float half = 1.0f / 2048, little = 1.0f / (1 << 20), step = 0x1p-24f;
  EXPECT_EQ(float16(1).bits, 0x3c00);
  EXPECT_EQ(float16(1 + half).bits, 0x3c00);
  EXPECT_EQ(float16(1 + half + little).bits, 0x3c01);
  EXPECT_EQ(float16(1 + 3 * half).bits, 0x3c02);
  EXPECT_EQ(float16(-2.5f).bits, 0xc100);
  EXPECT_EQ(float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(float16(0x1p-14f).bits, 0x0400);
  EXPECT_EQ(float16(0x1p-14f - step).bits, 0x03ff);
  EXPECT_EQ(float16(3 * step).bits, 3);
  EXPECT_EQ(float16(step / 2).bits, 0);
  EXPECT_EQ(float16(-1.5f * step).bits, 0x8002);
  EXPECT_EQ(float16(65504).bits, 0x7bff);
  EXPECT_EQ(float16(65519).bits, 0x7bff);
}

TEST(Float16, KeepsInfinityAndWhatIsNoNumber) {
  EXPECT_EQ(float(float16(infinite)), infinite);
  EXPECT_EQ(float(float16(-65520.0f)), -infinite);
  for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u})
    EXPECT_TRUE(std::isnan(float(float16(std::bit_cast<float>(bits))))) << bits;
}

TEST(Float16, IsAFloatAndBackTheSame) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    float16 x;
    x.bits = uint16_t(bits);
    if ((bits & 0x7fff) <= 0x7c00) {
      EXPECT_EQ(float16(float(x)).bits, bits);
    }
  }
}

TEST(CopyToBfloat16, IsTheSameOnEveryInstructionSet) {
  for (const int64_t columns : {0, 1, 3, 17, 33, 500}) {
    std::vector<double> values = normals(3 * columns, columns);
    if (columns > 2) values[1] = infinite, values[2] = std::nan("");
    for_each_target([&] {
      ByHand t("cpu", DType::f32);
      const Tensor x = tensor_of(t.arena, {3, columns}, values, DType::f32);
      const Tensor y = t.arena.allocate({3, columns}, DType::bf16);
      t.cx.backend.copy(y, x);
      for (int64_t i = 0; i < x.elements(); ++i)
        EXPECT_EQ(y.as<bfloat16>()[i].bits, bfloat16(x.as<float>()[i]).bits) << i << " of " << columns;
    });
  }
}

// Multiples of 1/8 up to ±2, which bfloat16 represents exactly, as f32 does the sums of their products.
std::vector<double> eighths(int64_t count, uint64_t stream) {
  std::vector<double> values = normals(count, stream);
  for (double& v : values) v = std::round(std::clamp(v, -2.0, 2.0) * 8) / 8;
  return values;
}

// A context that has a bfloat16 copy of w.
struct Rounding : ByHand {
  explicit Rounding(const char* name) : ByHand(test_backend(name), DType::f32) {}
  Var weight(Shape shape, const std::vector<double>& values) {
    const Var w = var(shape, values);
    const Tensor half = arena.allocate(shape, DType::bf16);
    cx.backend.copy(half, w);
    rounded.copies.emplace(w.value().data(), half);
    return w;
  }
  RoundedWeights rounded;
};

struct Computed {
  std::vector<double> y, dx, dw, db;
  bool operator==(const Computed&) const = default;
};

class RoundedProducts : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("gpu") && !why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  }
};

// Values that bfloat16 represents exactly are multiplied as in f32.
TEST_P(RoundedProducts, AreExactWhereTheFactorsAre) {
  for (const auto& [N, K, D] : {std::tuple(0, 3, 5), std::tuple(1, 1, 1), std::tuple(3, 17, 33), std::tuple(33, 5, 17),
                                std::tuple(70, 64, 40), std::tuple(500, 33, 3)})
    for (const Activation act : {Activation::none, Activation::relu}) {
      const auto compute = [&, N = N, K = K, D = D](bool half) {
        Rounding t(GetParam());
        const Var x = t.var({N, K}, eighths(N * K, 1)), w = t.weight({D, K}, eighths(D * K, 2)),
                  b = t.var({D}, eighths(D, 3));
        if (half) t.cx.rounded = &t.rounded;
        const Var y = linear(t.cx, x, w, b, act);
        Computed c{.y = values_of(y)};
        t.backward(y, eighths(N * D, 4));
        c.dx = values_of(x.node()->gradient), c.dw = values_of(w.node()->gradient),
        c.db = values_of(b.node()->gradient);
        return c;
      };
      EXPECT_TRUE(compute(true) == compute(false)) << N << " " << K << " " << D;
    }
}

// bfloat16 cannot represent 1 + 2⁻⁹: in x it is rounded to 1; in a bias, or in dy for db, it is kept.
TEST_P(RoundedProducts, RoundFactorsAndNothingElse) {
  Rounding t(GetParam());
  const double fine = 1 + 1.0 / 512;
  const Var x = t.var({1, 1}, {fine}), w = t.weight({1, 1}, {2 * fine}), b = t.var({1}, {fine});
  t.cx.rounded = &t.rounded;
  const Var y = linear(t.cx, x, w, b);
  EXPECT_EQ(values_of(y)[0], 2 + fine);
  t.backward(y, {fine});
  EXPECT_EQ(values_of(x.node()->gradient)[0], 2);
  EXPECT_EQ(values_of(w.node()->gradient)[0], 1);
  EXPECT_EQ(values_of(b.node()->gradient)[0], fine);
}

// A weight without a bfloat16 copy in the context is multiplied unchanged.
TEST_P(RoundedProducts, LeaveOtherWeightsAlone) {
  Rounding t(GetParam());
  t.cx.rounded = &t.rounded;
  const double fine = 1 + 1.0 / 512;
  EXPECT_EQ(values_of(linear(t.cx, t.var({1, 1}, {fine}), t.var({1, 1}, {2}), Var()))[0], 2 * fine);
}

TEST_P(RoundedProducts, GiveTheLossAndItsGradientsToThreeDigits) {
  for (const auto& [N, D, V] : {std::tuple(1, 3, 5), std::tuple(33, 17, 40), std::tuple(600, 16, 131)}) {
    std::vector<int32_t> targets;
    for (int n = 0; n < N; ++n) targets.push_back(int32_t(n * 7 % V));
    const auto compute = [&, N = N, D = D, V = V](bool half) {
      Rounding t(GetParam());
      const Var x = t.var({N, D}, normals(N * D, 1)), w = t.weight({V, D}, normals(V * D, 2));
      if (half) t.cx.rounded = &t.rounded;
      const TokenLoss loss = linear_cross_entropy(t.cx, x, w, int_tensor(targets, {N}), 0.1);
      return Computed{values_of(loss.loss), values_of(x.node()->gradient), values_of(w.node()->gradient), {}};
    };
    const Computed rounded = compute(true), exact = compute(false);
    EXPECT_FALSE(rounded == exact);
    expect_close(rounded.y, exact.y, tolerance(DType::bf16), "loss");
    expect_close(rounded.dx, exact.dx, tolerance(DType::bf16), "dx");
    expect_close(rounded.dw, exact.dw, tolerance(DType::bf16), "dw");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, RoundedProducts, testing::Values("reference", "cpu", "gpu kernels on the host"),
                         [](const auto& info) { return std::string(info.param).substr(0, 3); });
INSTANTIATE_TEST_SUITE_P(GpusAgreeWithTheReference, RoundedProducts, testing::Values("gpu"));

}  // namespace
}  // namespace dragoman
