#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backend/cpu/int8.h"

namespace dragoman::cpu {

void int8_avx_vnni_on_avx512(const Int8Panel& p);  // int8_avx_vnni_on_avx512.cpp

namespace {

// A panel of random integers, the largest among them, whose last columns do not exist.
struct RandomPanel {
  RandomPanel(int64_t rows, int64_t quads, int64_t columns) : rows(rows), quads(quads), columns(columns) {
    std::uniform_int_distribution<int> integer(-127, 127), all_or_none(0, 1);
    const auto next = [&] { return int8_t(all_or_none(random) ? integer(random) : 254 * all_or_none(random) - 127); };
    for (int8_t& v : x) v = next();
    for (int64_t q = 0; q < quads; ++q)
      for (int64_t c = 0; c < int8_panel; ++c)
        for (int64_t i = 0; i < int8_quad; ++i)
          sums[c] += w[(q * int8_panel + c) * int8_quad + i] = c < columns ? next() : int8_t{0};
    std::normal_distribution<float> number;
    for (auto* numbers : {&row_scales, &scales, &bias})
      for (float& v : *numbers) v = number(random);
  }

  // y, with a column more than exists, which nobody may touch.
  std::vector<float> computed_by(const Int8Kernel& kernel, bool relu) const {
    std::vector<uint8_t> flipped(x.begin(), x.end());
    for (uint8_t& v : flipped) v ^= kernel.flip;
    std::vector<float> y(rows * (columns + 1), 99);
    kernel.panel({flipped.data(), rows, quads * int8_quad, w.data(), quads, sums.data(), row_scales.data(),
                  scales.data(), bias.data(), relu, y.data(), columns + 1, columns});
    return y;
  }

  std::mt19937 random{7};
  const int64_t rows, quads, columns;
  std::vector<int8_t> x = std::vector<int8_t>(rows * quads * int8_quad),
                      w = std::vector<int8_t>(quads * int8_panel * int8_quad);
  std::vector<int32_t> sums = std::vector<int32_t>(int8_panel);
  std::vector<float> row_scales = std::vector<float>(rows), scales = std::vector<float>(int8_panel),
                     bias = std::vector<float>(int8_panel);
};

void expect_bits_of_the_portable(const Int8Kernel& kernel) {
  for (int64_t rows = 1; rows <= 13; ++rows)
    for (const int64_t quads : {1, 2, 33})
      for (const int64_t columns : {1, 7, 32, 33, 63, 64})
        for (const bool relu : {false, true}) {
          const RandomPanel panel(rows, quads, columns);
          EXPECT_EQ(panel.computed_by(kernel, relu), panel.computed_by({int8_portable, 0}, relu))
              << rows << " rows, " << quads << " quads, " << columns << " columns";
        }
}

#ifdef __x86_64__
TEST(Int8Kernels, OfAvx2GivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  expect_bits_of_the_portable({int8_avx2, 0});
}

TEST(Int8Kernels, OfAvxVnniGivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avxvnni")) GTEST_SKIP() << "this CPU has no AVX-VNNI";
  expect_bits_of_the_portable({int8_avx_vnni, 0x80});
}

TEST(Int8Kernels, OfAvxVnniGivesTheBitsOfThePortableOneEncodedForAvx512) {
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512vl"))
    GTEST_SKIP() << "this CPU has no AVX-512 VNNI";
  expect_bits_of_the_portable({int8_avx_vnni_on_avx512, 0x80});
}

TEST(Int8Kernels, OfAvx512VnniGivesTheBitsOfThePortableOne) {
  if (!__builtin_cpu_supports("avx512vnni")) GTEST_SKIP() << "this CPU has no AVX-512 VNNI";
  expect_bits_of_the_portable({int8_avx512_vnni, 0x80});
}
#endif

}  // namespace
}  // namespace dragoman::cpu
