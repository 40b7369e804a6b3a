// Shared by the vector kernels. Highway's foreach_target includes this once per instruction set, hence the guard.
#if defined(DRAGOMAN_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
  #ifdef DRAGOMAN_CPU_SIMD_INL_H_
    #undef DRAGOMAN_CPU_SIMD_INL_H_
  #else
    #define DRAGOMAN_CPU_SIMD_INL_H_
  #endif

  #include <hwy/contrib/math/math-inl.h>
  #include <hwy/highway.h>

  #include <algorithm>
  #include <type_traits>

  #include "backend/dropout.h"
  #include "tensor/bfloat16.h"
  #include "tensor/tensor.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

/// The first min(n, lanes) floats at p, n >= 0, zero-padded; reads nothing beyond p + n.
HWY_INLINE VF LoadN(F32 d, const float* p, int64_t n) {
  if (n >= int64_t(hn::Lanes(d))) return hn::LoadU(d, p);
  #if HWY_TARGET <= HWY_AVX2  // from this target on, masked-out elements are not accessed; compilers assume the same
  return hn::MaskedLoad(hn::FirstN(d, size_t(n)), d, p);
  #else
  HWY_ALIGN float padded[HWY_MAX_BYTES / sizeof(float)] = {};
  for (int64_t i = 0; i < n; ++i) padded[i] = p[i];
  return hn::Load(d, padded);
  #endif
}

/// Writes the first min(n, lanes) floats of v, n >= 0.
HWY_INLINE void StoreN(VF v, F32 d, float* p, int64_t n) {
  if (n >= int64_t(hn::Lanes(d))) return hn::StoreU(v, d, p);
  #if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, size_t(n)), d, p);
  #else
  HWY_ALIGN float padded[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, padded);
  for (int64_t i = 0; i < n; ++i) p[i] = padded[i];
  #endif
}

HWY_INLINE float Sum(F32 d, VF v) { return hn::GetLane(hn::SumOfLanes(d, v)); }
HWY_INLINE float Max(F32 d, VF v) { return hn::GetLane(hn::MaxOfLanes(d, v)); }

/// The vector form of bfloat16(float): rounds to nearest, ties to even; NaN stays NaN.
HWY_INLINE void StoreRounded(VF v, bfloat16* p) {
  const hn::RebindToUnsigned<F32> d32;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<uint16_t, F32> d16;
  const auto all = hn::BitCast(d32, v);
  const auto odd = hn::And(hn::ShiftRight<16>(all), hn::Set(d32, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(all, hn::Set(d32, 0x7fff)), odd));
  const auto bits = hn::IfThenElse(hn::RebindMask(d32, hn::Eq(v, v)), rounded, hn::Set(d32, 0x7fc0));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, bits)), d16, reinterpret_cast<uint16_t*>(p));
}

/// The first min(n, lanes) numbers at p, n >= 0, zero-padded; reads nothing beyond p + n.
HWY_INLINE VF LoadN(F32 d, const bfloat16* p, int64_t n) {
  const hn::RebindToUnsigned<F32> d32;
  const hn::Rebind<uint16_t, F32> d16;
  const auto* bits = reinterpret_cast<const uint16_t*>(p);
  HWY_ALIGN uint16_t padded[HWY_MAX_BYTES / sizeof(float)] = {};
  if (n < int64_t(hn::Lanes(d))) {
    for (int64_t i = 0; i < n; ++i) padded[i] = bits[i];
    bits = padded;
  }
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, bits))));
}

/// Rounds and writes the first min(n, lanes) numbers of v, n >= 0.
HWY_INLINE void StoreN(VF v, F32 d, bfloat16* p, int64_t n) {
  if (n >= int64_t(hn::Lanes(d))) return StoreRounded(v, p);
  HWY_ALIGN bfloat16 padded[HWY_MAX_BYTES / sizeof(float)];
  StoreRounded(v, padded);
  for (int64_t i = 0; i < n; ++i) p[i] = padded[i];
}

/// A row of activations, float or bfloat16, chosen at run time.
struct AnyRow {
  void* at;
  bool half;

  HWY_INLINE AnyRow operator+(int64_t c) const {
    return {static_cast<char*>(at) + c * int64_t(half ? sizeof(bfloat16) : sizeof(float)), half};
  }
};
HWY_INLINE VF LoadN(F32 d, AnyRow row, int64_t n) {
  return row.half ? LoadN(d, static_cast<const bfloat16*>(row.at), n) : LoadN(d, static_cast<const float*>(row.at), n);
}
HWY_INLINE void StoreN(VF v, F32 d, AnyRow row, int64_t n) {
  row.half ? StoreN(v, d, static_cast<bfloat16*>(row.at), n) : StoreN(v, d, static_cast<float*>(row.at), n);
}

/// Writes or adds the first min(n, lanes) numbers of a gradient. At: float*, bfloat16* or AnyRow.
template <class At>
HWY_INLINE void StoreGrad(VF v, F32 d, At at, int64_t n, bool adds) {
  StoreN(adds ? hn::Add(LoadN(d, at, n), v) : v, d, at, n);
}

/// Rows of activations, for kernels that take both types. If all tensors of a call hold floats, kernels use View<float>
/// instead (for_activations), which saves the branch in each access.
struct AnyView {
  void* data = nullptr;
  int64_t rows = 0, cols = 0, stride = 0;
  bool half = false;

  HWY_INLINE AnyRow row(int64_t n) const { return AnyRow{data, half} + n * stride; }
  explicit operator bool() const { return data != nullptr; }
};
template <class V>
V ViewOf(const Tensor& x) {
  if (!x) return {};
  if constexpr (std::is_same_v<V, AnyView>)
    return {x.data(), x.rows(), x.cols(), x.stride(), x.dtype() == DType::bf16};
  else
    return x.view<float>();
}

/// Calls f.operator()<V>() with the type of the views of these activations, some of which may be empty.
template <class F, class... T>
void for_activations(F f, const T&... tensors) {
  const bool floats = (... && (!tensors || tensors.dtype() == DType::f32));
  floats ? f.template operator()<View<float>>() : f.template operator()<AnyView>();
}

/// exp(x) for x <= 0, with an error of at most 3e-7, and 0 below -87.7: half the instructions of hn::Exp, which accepts
/// any x. x = q ln 2 + r; adding a large number leaves q in the lowest bits, from which the exponent follows directly.
HWY_INLINE VF ExpOfNegative(VF x) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const VF large = hn::Set(d, 0x1.8p23f + 127), least = hn::Set(d, -88.0f), one = hn::Set(d, 1.0f);
  x = hn::IfThenElse(hn::Lt(x, least), least, x);  // unlike a maximum, keeps NaN on all targets
  const VF sum = hn::MulAdd(x, hn::Set(d, 1.44269504f), large);
  const VF r = hn::NegMulAdd(hn::Sub(sum, large), hn::Set(d, 0.693147181f), x);
  VF y = hn::MulAdd(r, hn::Set(d, 0.00831252057f), hn::Set(d, 0.0418901555f));  // minimax in relative error
  y = hn::MulAdd(r, y, hn::Set(d, 0.166671142f));
  y = hn::MulAdd(r, y, hn::Set(d, 0.499992311f));
  y = hn::MulAdd(r, hn::MulAdd(r, y, one), one);
  return hn::Mul(y, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, sum))));
}

/// 1 / (1 + exp(-x)), from e = exp(-|x|): e / (1 + e) where x < 0. Keeps NaN, like exp.
HWY_INLINE VF Sigmoid(VF x) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f), e = ExpOfNegative(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// (1 - e) / (1 + e) with the sign of x, where e = exp(-2 |x|). The error is absolute, about 1e-7: small x lose digits.
HWY_INLINE VF Tanh(VF x) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f), e = ExpOfNegative(hn::Mul(hn::Set(d, -2.0f), hn::Abs(x)));
  return hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
}

/// A dropout mask's constants, read once per kernel call.
struct Mask {
  PhiloxKey key;
  uint32_t stream, threshold;
  float scale;
};

HWY_INLINE Mask MaskOf(const Dropout& drop, uint32_t stream) {
  return {drop.key(), stream, drop.threshold(), float(drop.scale())};
}

template <class V>
HWY_INLINE V MulHigh32(V a, V m) {
  const hn::ScalableTag<uint32_t> d;
  #if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, uint32_t(uint64_t{hn::GetLane(a)} * hn::GetLane(m) >> 32));
  #else
  const auto even = hn::BitCast(d, hn::MulEven(a, m));
  const auto odd = hn::BitCast(d, hn::MulEven(hn::Shuffle2301(a), m));
  return hn::OddEven(odd, hn::Shuffle2301(even));
  #endif
}

/// Factors (0 or scale) of the 128 columns of group `group` of one row: the vector form of dropout_factor.
HWY_INLINE void MaskGroup(const Mask& mask, uint32_t sentence, uint32_t token, uint32_t group,
                          float* HWY_RESTRICT out) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const F32 df;
  const auto m0 = hn::Set(d, 0xD2511F53), m1 = hn::Set(d, 0xCD9E8D57);
  const auto threshold = hn::Set(di, int32_t(mask.threshold));
  const auto low = hn::Set(d, 0xFFFF);
  for (uint32_t lane = 0; lane < 16; lane += uint32_t(hn::Lanes(d))) {
    auto c0 = hn::Iota(d, group * 16 + lane), c1 = hn::Set(d, token), c2 = hn::Set(d, sentence),
         c3 = hn::Set(d, mask.stream);
    uint32_t k0 = mask.key[0], k1 = mask.key[1];
    for (int round = 0; round < 10; ++round) {
      const auto a_high = MulHigh32(c0, m0), a_low = hn::Mul(c0, m0);
      const auto b_high = MulHigh32(c2, m1), b_low = hn::Mul(c2, m1);
      c0 = hn::Xor(hn::Xor(b_high, c1), hn::Set(d, k0));
      c2 = hn::Xor(hn::Xor(a_high, c3), hn::Set(d, k1));
      c1 = b_low;
      c3 = a_low;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    int j = 0;
    for (const auto word : {c0, c1, c2, c3})
      for (const auto number : {hn::And(word, low), hn::ShiftRight<16>(word)}) {
        const auto kept = hn::Not(hn::Lt(hn::BitCast(di, number), threshold));
        hn::StoreU(hn::IfThenElseZero(hn::RebindMask(df, kept), hn::Set(df, mask.scale)), df, out + 16 * j + lane);
        ++j;
      }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#endif
