#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/cpu/int8.h"
#include "backend/cpu/isa.h"

namespace dragoman::cpu {

void int8_avx_vnni_on_avx512(const Int8Panel& p);  // int8_avx_vnni_on_avx512.cpp

namespace {

// A panel of random integers that includes the largest ones; its last columns do not exist.
struct RandomPanel {
  RandomPanel(int64_t rows, int64_t quads, int64_t columns) : rows(rows), quads(quads), columns(columns) {
    std::uniform_int_distribution<int> integer(-127, 127), all_or_none(0, 1);
    const auto next = [&] { return int8_t(all_or_none(random) ? integer(random) : 254 * all_or_none(random) - 127); };
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < quads * int8_quad; ++k) {
        const int8_t v = x[r * quads * int8_quad + k] = next() - all_or_none(random);
        below[r] += std::max(-v, 0);
      }
    for (int64_t q = 0; q < quads; ++q)
      for (int64_t c = 0; c < int8_panel; ++c)
        for (int64_t i = 0; i < int8_quad; ++i)
          sums[c] += w[(q * int8_panel + c) * int8_quad + i] = c < columns ? next() : int8_t{0};
    std::normal_distribution<float> number;
    for (auto* numbers : {&row_scales, &scales, &bias})
      for (float& v : *numbers) v = number(random);
  }

  // y, with one more column than exists, which must not be touched.
  std::vector<float> computed_by(const Int8Kernel& kernel, bool relu) const {
    const int64_t K = quads * int8_quad, stride = kernel.form == Int8Form::apart ? 2 * K : K;
    std::vector<uint8_t> formed(rows * stride);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < K; ++k) {
        const int v = x[r * K + k];
        uint8_t* const to = &formed[r * stride + k];
        switch (kernel.form) {
          case Int8Form::plain:
            *to = uint8_t(v);
            break;
          case Int8Form::offset:
            *to = uint8_t(v + 128);
            break;
          case Int8Form::apart:
            to[0] = uint8_t(std::abs(v)), to[K] = v < 0 ? 255 : 0;
        }
      }
    std::vector<float> y(rows * (columns + 1), 99);
    kernel.panel({formed.data(), rows, stride, w.data(), quads, below.data(), sums.data(), row_scales.data(),
                  scales.data(), bias.data(), relu, y.data(), columns + 1, columns});
    return y;
  }

  std::mt19937 random{7};
  const int64_t rows, quads, columns;
  std::vector<int8_t> x = std::vector<int8_t>(rows * quads * int8_quad),
                      w = std::vector<int8_t>(quads * int8_panel * int8_quad);
  std::vector<int32_t> below = std::vector<int32_t>(rows), sums = std::vector<int32_t>(int8_panel);
  std::vector<float> row_scales = std::vector<float>(rows), scales = std::vector<float>(int8_panel),
                     bias = std::vector<float>(int8_panel);
};

void expect_bits_of_the_portable(const Int8Kernel& kernel) {
  for (int64_t rows = 1; rows <= 13; ++rows)
    for (const int64_t quads : {1, 2, 33})
      for (const int64_t columns : {1, 7, 32, 33, 63, 64})
        for (const bool relu : {false, true}) {
          const RandomPanel panel(rows, quads, columns);
          EXPECT_EQ(panel.computed_by(kernel, relu), panel.computed_by({int8_portable, Int8Form::plain}, relu))
              << rows << " rows, " << quads << " quads, " << columns << " columns";
        }
}

#ifdef __x86_64__
TEST(Int8Kernels, OfAvx2GivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  expect_bits_of_the_portable({int8_avx2, Int8Form::apart});
}

TEST(Int8Kernels, OfAvxVnniGivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avxvnni")) GTEST_SKIP() << "this CPU has no AVX-VNNI";
  expect_bits_of_the_portable({int8_avx_vnni, Int8Form::offset});
}

TEST(Int8Kernels, OfAvxVnniGivesTheBitsOfThePortableOneEncodedForAvx512) {
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vl"))
    GTEST_SKIP() << "this CPU has no AVX-512 VNNI";
  expect_bits_of_the_portable({int8_avx_vnni_on_avx512, Int8Form::offset});
}

TEST(Int8Kernels, OfAvx512VnniGivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avx512vnni")) GTEST_SKIP() << "this CPU has no AVX-512 VNNI";
  expect_bits_of_the_portable({int8_avx512_vnni, Int8Form::offset});
}
#elif defined(__aarch64__)
TEST(Int8Kernels, OfNeonGivesTheBitsOfThePortableOne) { expect_bits_of_the_portable({int8_neon, Int8Form::plain}); }

TEST(Int8Kernels, OfNeonsDotProductGivesTheBitsOfThePortableOne) {
  if (!has_int8_products()) GTEST_SKIP() << "this CPU has no dot product";
  expect_bits_of_the_portable({int8_neon_dot, Int8Form::plain});
}
#endif

}  // namespace
}  // namespace dragoman::cpu
