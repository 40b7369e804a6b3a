#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_int8.cpp"
#include <hwy/foreach_target.h>
//
#include <cstring>
#include <tuple>

#include "backend/cpu/int8.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/linear_int8.h"
#include "backend/cpu/linear_packed.h"
#include "backend/cpu/simd-inl.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

// max |x|
float TopOfRow(const float* x, int64_t K) {
  const F32 d;
  const int64_t L = hn::Lanes(d);
  VF tops = hn::Zero(d);
  for (int64_t k = 0; k < K; k += L) tops = hn::Max(tops, hn::Abs(LoadN(d, x + k, K - k)));
  return Max(d, tops);
}

// x ≈ top / 127 · q with q in -127…127, nearest, ties to even; zeros up to `stride`. x is a row or a chunk of one.
// Returns the sum of |q| of negative values, if the form needs it.
template <Int8Form form>
int32_t QuantizePart(uint8_t* q, int64_t stride, const float* x, int64_t K, float top) {
  constexpr bool apart = form == Int8Form::apart;
  constexpr auto zero = int8_t(form == Int8Form::offset ? 0x80 : 0);
  const F32 d;
  const hn::RebindToSigned<F32> d32;
  const hn::Rebind<int8_t, F32> d8;
  const int64_t L = hn::Lanes(d);
  const VF inverse = hn::Set(d, top > 0 ? 127 / top : 0);
  auto below = hn::Zero(d32);
  const auto write = [&](VF part, int8_t* to, int64_t to_signs) {
    const auto integers = hn::NearestInt(hn::Mul(part, inverse));
    const auto bytes = hn::DemoteTo(d8, integers);  // NaN becomes -128 or 127
    if constexpr (apart) {
      below = hn::Sub(below, hn::Min(hn::Max(integers, hn::Set(d32, -128)), hn::Zero(d32)));
      hn::StoreU(hn::Abs(bytes), d8, to);
      hn::StoreU(hn::VecFromMask(d8, hn::Lt(bytes, hn::Zero(d8))), d8, to + to_signs);
    } else {
      hn::StoreU(hn::Xor(bytes, hn::Set(d8, zero)), d8, to);
    }
  };
  int64_t k = 0;
  for (; k + L <= K; k += L) write(hn::LoadU(d, x + k), reinterpret_cast<int8_t*>(q + k), stride);
  if (k < stride) {
    constexpr int64_t room = HWY_MAX_BYTES / sizeof(float) + int8_quad;
    int8_t rest[2 * room] = {};
    std::fill_n(rest, room, zero);
    write(LoadN(d, x + k, K - k), rest, room);
    std::memcpy(q + k, rest, stride - k);
    if (apart) std::memcpy(q + stride + k, rest + room, stride - k);
  }
  return apart ? hn::GetLane(hn::SumOfLanes(d32, below)) : 0;
}

// A whole row; its scale and what QuantizePart returns.
std::pair<float, int32_t> QuantizeRow(uint8_t* q, int64_t stride, const float* x, int64_t K, Int8Form form) {
  const auto quantize = form == Int8Form::apart    ? QuantizePart<Int8Form::apart>
                        : form == Int8Form::offset ? QuantizePart<Int8Form::offset>
                                                   : QuantizePart<Int8Form::plain>;
  const float top = TopOfRow(x, K);
  const int32_t below = quantize(q, stride, x, K, top);
  return {top / 127, below};
}

// Packs up to 64 rows of integers into a panel, through a small block whose rows `fill(r, from, count, stride, row)`
// writes: numbers [from, from + count) of row r, zeros up to `stride`. Each line of the panel takes four bytes per row;
// missing rows are zero.
template <class Fill>
HWY_INLINE void WritePanel(int8_t* panel, int32_t* sums, int64_t rows, int64_t cols, const Fill& fill) {
  constexpr int64_t width = 256;  // numbers of each row at a time
  alignas(64) uint8_t block[int8_panel][width] = {};
  for (int64_t r = 0; r < int8_panel; ++r) sums[r] = 0;
  for (int64_t from = 0; from < cols; from += width) {
    const int64_t count = std::min(width, cols - from), quads = (count + int8_quad - 1) / int8_quad;
    for (int64_t r = 0; r < rows; ++r) {
      fill(r, from, count, quads * int8_quad, block[r]);
      for (int64_t k = 0; k < count; ++k) sums[r] += int8_t(block[r][k]);
    }
    for (int64_t q = 0; q < quads; ++q, panel += int8_panel * int8_quad)
      for (int64_t r = 0; r < int8_panel; ++r) std::memcpy(panel + r * int8_quad, block[r] + q * int8_quad, int8_quad);
  }
}

void PackPanel(int8_t* panel, float* scales, int32_t* sums, View<const float> w) {
  float tops[int8_panel] = {};
  for (int64_t r = 0; r < w.rows; ++r) tops[r] = TopOfRow(w.row(r), w.cols);
  for (int64_t r = 0; r < int8_panel; ++r) scales[r] = tops[r] / 127;
  WritePanel(panel, sums, w.rows, w.cols, [&](int64_t r, int64_t from, int64_t count, int64_t stride, uint8_t* row) {
    QuantizePart<Int8Form::plain>(row, stride, w.row(r) + from, count, tops[r]);
  });
}

void PackRoundedPanel(int8_t* panel, int32_t* sums, const int8_t* const* w, int64_t rows, int64_t cols) {
  WritePanel(panel, sums, rows, cols, [&](int64_t r, int64_t from, int64_t count, int64_t stride, uint8_t* row) {
    std::memcpy(row, w[r] + from, size_t(count));
    std::fill(row + count, row + stride, uint8_t{0});
  });
}

Int8Kernel KernelOfTarget() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (__builtin_cpu_supports("avx512vnni")) return {int8_avx512_vnni, Int8Form::offset};
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if (__builtin_cpu_supports("avxvnni")) return {int8_avx_vnni, Int8Form::offset};
  return {int8_avx2, Int8Form::apart};
#elif HWY_ARCH_ARM_A64
  return {has_int8_products() ? int8_neon_dot : int8_neon, Int8Form::plain};
#else
  return {int8_portable, Int8Form::plain};
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(PackPanel);
HWY_EXPORT(PackRoundedPanel);
HWY_EXPORT(QuantizeRow);
HWY_EXPORT(KernelOfTarget);

constexpr int64_t rounded_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// A packed weight: the scale and the sum of the integers of each column, 64 per panel, then the panels.
template <class Byte>
struct Packed {
  using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;
  using Int = std::conditional_t<std::is_const_v<Byte>, const int32_t, int32_t>;
  Packed(Byte* data, int64_t D, int64_t K)
      : columns(rounded_up(D, int8_panel)),
        quads(rounded_up(K, int8_quad) / int8_quad),
        scales(reinterpret_cast<Float*>(data)),
        sums(reinterpret_cast<Int*>(scales + columns)),
        panels(reinterpret_cast<Byte*>(sums + columns)) {}
  Byte* panel(int64_t p) const { return panels + p * quads * int8_panel * int8_quad; }
  int64_t bytes() const { return columns * int64_t{sizeof(float) + sizeof(int32_t)} + columns * quads * int8_quad; }

  int64_t columns, quads;
  Float* scales;
  Int* sums;
  Byte* panels;
};

// Row d of the concatenated rows of all slices.
const int8_t* row_of(std::span<const RoundedRows> parts, int64_t d) {
  for (const RoundedRows& part : parts) {
    if (d < part.q.rows()) return part.q.view<const int8_t>().row(d);
    d -= part.q.rows();
  }
  return nullptr;
}

}  // namespace

int64_t int8_bytes(int64_t D, int64_t K) { return Packed<int8_t>(nullptr, D, K).bytes(); }

void pack_int8(const Tensor& packed, const Tensor& w) {
  const auto W = w.view<const float>();
  const auto pack = HWY_DYNAMIC_DISPATCH(PackPanel);
  const Packed<int8_t> out(packed.as<int8_t>(), W.rows, W.cols);
  parallel_blocks(out.columns, int8_panel, [&](Range columns, int) {
    for (int64_t d = columns.begin; d < columns.end; d += int8_panel)
      pack(out.panel(d / int8_panel), out.scales + d, out.sums + d,
           {W.row(d), std::min(int8_panel, W.rows - d), W.cols, W.stride});
  });
}

void pack_rounded(const Tensor& packed, std::span<const RoundedRows> parts) {
  int64_t D = 0;
  for (const RoundedRows& part : parts) D += part.q.rows();
  const int64_t K = parts.front().q.cols();
  const Packed<int8_t> out(packed.as<int8_t>(), D, K);
  float* scales = out.scales;
  for (const RoundedRows& part : parts) scales = std::copy_n(part.scales.as<float>(), part.q.rows(), scales);
  std::fill(scales, out.scales + out.columns, 0.0f);
  const auto pack = HWY_DYNAMIC_DISPATCH(PackRoundedPanel);
  parallel_blocks(out.columns, int8_panel, [&](Range columns, int) {
    for (int64_t d = columns.begin; d < columns.end; d += int8_panel) {
      const int64_t rows = std::min(int8_panel, D - d);
      const int8_t* w[int8_panel];
      for (int64_t r = 0; r < rows; ++r) w[r] = row_of(parts, d + r);
      pack(out.panel(d / int8_panel), out.sums + d, w, rows, K);
    }
  });
}

void select_int8(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
  const auto* wanted = rows.as<int32_t>();
  const int64_t R = rows.elements();
  const Packed<const int8_t> from(packed.as<const int8_t>(), D, K);
  const Packed<int8_t> to(selected.as<int8_t>(), R, K);
  constexpr int64_t quads = int8_panel;  // in a line of a panel: four bytes of each column
  parallel_blocks(to.columns, int8_panel, [&](Range columns, int) {
    for (int64_t c = columns.begin; c < columns.end; ++c) {
      const bool exists = c < R;
      const int64_t row = exists ? wanted[c] : 0;
      to.scales[c] = exists ? from.scales[row] : 0;
      to.sums[c] = exists ? from.sums[row] : 0;
      auto* quad = reinterpret_cast<int32_t*>(to.panel(c / int8_panel)) + c % int8_panel;
      const auto* source = reinterpret_cast<const int32_t*>(from.panel(row / int8_panel)) + row % int8_panel;
      for (int64_t q = 0; q < to.quads; ++q) quad[q * quads] = exists ? source[q * quads] : 0;
    }
  });
}

int64_t linear_int8_scratch(int64_t N, int64_t K) {
  constexpr int64_t bytes = 2;  // at most, per number
  return rounded_up(N * int64_t{sizeof(float) + sizeof(int32_t)}, 64) + N * bytes * rounded_up(K, int8_quad);
}

// Integer sums are exact, so the result does not depend on the number of threads.
void linear_int8(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                 const Tensor& scratch) {
  static_assert(int8_panel == packed_panel);  // int8.h must not include anything
  const auto X = x.view<const float>();
  const auto Y = y.view<float>();
  const auto quantize = HWY_DYNAMIC_DISPATCH(QuantizeRow);
  const Int8Kernel kernel = HWY_DYNAMIC_DISPATCH(KernelOfTarget)();
  const Packed<const int8_t> w(packed.as<const int8_t>(), Y.cols, X.cols);
  const int64_t padded = w.quads * int8_quad, stride = kernel.form == Int8Form::apart ? 2 * padded : padded;
  auto* row_scales = static_cast<float*>(scratch.data());
  auto* below = reinterpret_cast<int32_t*>(row_scales + X.rows);
  auto* rows8 = static_cast<uint8_t*>(scratch.data()) + linear_int8_scratch(X.rows, 0);
  parallel_blocks(X.rows, 1 + (1 << 14) / (X.cols + 1), [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n)
      std::tie(row_scales[n], below[n]) = quantize(rows8 + n * stride, padded, X.row(n), X.cols, kernel.form);
  });
  each_panel(X.rows, X.cols, Y.cols, 1 << 17, [&](int64_t p, Range rows) {
    const int64_t from = p * int8_panel, columns = std::min(int8_panel, Y.cols - from), first = rows.begin;
    float bias[int8_panel] = {};
    if (b) std::copy_n(b.as<float>() + from, columns, bias);
    kernel.panel({rows8 + first * stride, rows.end - first, stride, w.panel(p), w.quads, below + first, w.sums + from,
                  row_scales + first, w.scales + from, bias, act == Activation::relu, Y.row(first) + from, Y.stride,
                  columns});
  });
}

}  // namespace dragoman::cpu
#endif
