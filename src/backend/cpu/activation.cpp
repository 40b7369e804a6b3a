#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/activation.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/families.h"
#include "backend/cpu/simd-inl.h"
#include "backend/elementwise.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

constexpr float root_half = 0.707106781f, root_two_over_pi = 0.797884561f, one_over_root_two_pi = 0.398942280f;

// The standard normal distribution's Φ(x), with an error of at most 1e-7: erf of Abramowitz & Stegun 1964, 7.1.26.
// Computes the tail beyond |x|, which stays accurate even where the tail is small.
HWY_INLINE VF NormalBelow(VF x) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f), z = hn::Mul(hn::Abs(x), hn::Set(d, root_half));
  const VF t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.3275911f), one));
  VF p = hn::MulAdd(t, hn::Set(d, 1.061405429f), hn::Set(d, -1.453152027f));
  p = hn::MulAdd(p, t, hn::Set(d, 1.421413741f));
  p = hn::MulAdd(p, t, hn::Set(d, -0.284496736f));
  p = hn::MulAdd(p, t, hn::Set(d, 0.254829592f));
  const VF tail = hn::Mul(hn::Mul(hn::Set(d, 0.5f), hn::Mul(p, t)), ExpOfNegative(hn::Neg(hn::Mul(z, z))));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

// √(2/π)(x + 0.044715 x³)
HWY_INLINE VF GeluInner(VF x) {
  const F32 d;
  const VF cube = hn::Mul(hn::Mul(x, x), x);
  return hn::Mul(hn::Set(d, root_two_over_pi), hn::MulAdd(hn::Set(d, 0.044715f), cube, x));
}

HWY_INLINE VF ScaledSigmoid(VF x) { return Sigmoid(hn::Mul(hn::Set(F32(), 1.702f), x)); }

/// The formulas of reference/activation.h.
template <Activation act>
HWY_INLINE VF Activated(VF x) {
  const F32 d;
  if constexpr (act == Activation::relu) return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x);
  if constexpr (act == Activation::gelu) return hn::Mul(x, NormalBelow(x));
  if constexpr (act == Activation::swish) return hn::Mul(x, Sigmoid(x));
  if constexpr (act == Activation::tanh) return Tanh(x);
  if constexpr (act == Activation::gelu_sigmoid) return hn::Mul(x, ScaledSigmoid(x));
  if constexpr (act == Activation::gelu_tanh)
    return hn::Mul(hn::Mul(x, hn::Set(d, 0.5f)), hn::Add(hn::Set(d, 1.0f), Tanh(GeluInner(x))));
  return x;
}

/// d act / d x of σ(a·x)·x, from s = σ(a·x).
HWY_INLINE VF SlopeOfSwish(VF x, VF s, float a) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f);
  return hn::Mul(s, hn::MulAdd(hn::Mul(hn::Set(d, a), x), hn::Sub(one, s), one));
}

/// d act / d x.  `saved` is y for relu and tanh, x for the others.
template <Activation act>
HWY_INLINE VF Slope(VF saved) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  if constexpr (act == Activation::gelu) {
    const VF square = hn::Mul(saved, saved);
    const VF density = hn::Mul(ExpOfNegative(hn::Mul(square, hn::Set(d, -0.5f))), hn::Set(d, one_over_root_two_pi));
    return hn::MulAdd(saved, density, NormalBelow(saved));
  }
  if constexpr (act == Activation::swish) return SlopeOfSwish(saved, Sigmoid(saved), 1);
  if constexpr (act == Activation::gelu_sigmoid) return SlopeOfSwish(saved, ScaledSigmoid(saved), 1.702f);
  if constexpr (act == Activation::tanh) return hn::NegMulAdd(saved, saved, one);
  if constexpr (act == Activation::gelu_tanh) {
    const VF t = Tanh(GeluInner(saved)), square = hn::Mul(saved, saved);
    const VF inner = hn::Mul(hn::Set(d, root_two_over_pi), hn::MulAdd(hn::Set(d, 0.134145f), square, one));
    const VF rise = hn::Mul(hn::Mul(hn::Mul(half, saved), hn::NegMulAdd(t, t, one)), inner);
    return hn::MulAdd(half, hn::Add(one, t), rise);
  }
  return one;
}

template <Activation act>
HWY_INLINE VF Backward(VF dy, VF saved) {
  if constexpr (act == Activation::relu) return hn::IfThenElseZero(hn::Gt(saved, hn::Zero(F32())), dy);
  return hn::Mul(dy, Slope<act>(saved));
}

template <Activation act>
void ForwardRows(View<float> y, View<const float> x, Range rows) {
  const F32 d;
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < x.cols; c += int64_t(hn::Lanes(d)))
      StoreN(Activated<act>(LoadN(d, x.row(n) + c, x.cols - c)), d, y.row(n) + c, x.cols - c);
}

// dx may be dy.
template <Activation act>
void BackwardRows(View<float> dx, View<const float> dy, View<const float> saved, bool adds, Range rows) {
  const F32 d;
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < dy.cols; c += int64_t(hn::Lanes(d))) {
      const int64_t count = dy.cols - c;
      const VF g = Backward<act>(LoadN(d, dy.row(n) + c, count), LoadN(d, saved.row(n) + c, count));
      StoreGrad(g, d, dx.row(n) + c, count, adds);
    }
}

template <Activation act, class V>
void GatedRows(const V& Y, const V& X, Range rows) {
  const F32 d;
  const int64_t D = Y.cols;
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < D; c += int64_t(hn::Lanes(d))) {
      const VF a = LoadN(d, X.row(n) + c, D - c), b = LoadN(d, X.row(n) + D + c, D - c);
      StoreN(hn::Mul(Activated<act>(a), b), d, Y.row(n) + c, D - c);
    }
}

template <Activation act, class V>
void GatedBackwardRows(const V& DX, const V& DY, const V& X, bool adds, Range rows) {
  const F32 d;
  const int64_t D = DY.cols;
  for (int64_t n = rows.begin; n < rows.end; ++n)
    for (int64_t c = 0; c < D; c += int64_t(hn::Lanes(d))) {
      const int64_t count = D - c;
      const auto put = [&](int64_t column, VF value) HWY_ATTR { StoreGrad(value, d, DX.row(n) + column, count, adds); };
      const VF a = LoadN(d, X.row(n) + c, count), b = LoadN(d, X.row(n) + D + c, count);
      const VF dy = LoadN(d, DY.row(n) + c, count), y = Activated<act>(a);
      put(c, Backward<act>(hn::Mul(dy, b), slope_of_output(act) ? y : a));
      put(D + c, hn::Mul(dy, y));
    }
}

template <class F>
HWY_INLINE void ForActivation(Activation act, const F& f) {
  switch (act) {
    case Activation::none:
      return f.template operator()<Activation::none>();
    case Activation::relu:
      return f.template operator()<Activation::relu>();
    case Activation::gelu:
      return f.template operator()<Activation::gelu>();
    case Activation::swish:
      return f.template operator()<Activation::swish>();
    case Activation::tanh:
      return f.template operator()<Activation::tanh>();
    case Activation::gelu_tanh:
      return f.template operator()<Activation::gelu_tanh>();
    case Activation::gelu_sigmoid:
      return f.template operator()<Activation::gelu_sigmoid>();
  }
}

void ActivationRows(View<float> y, View<const float> x, Activation act, Range rows) {
  ForActivation(act, [&]<Activation a>() HWY_ATTR { ForwardRows<a>(y, x, rows); });
}

void ActivationBackwardRows(View<float> dx, View<const float> dy, View<const float> saved, Activation act, bool adds,
                            Range rows) {
  ForActivation(act, [&]<Activation a>() HWY_ATTR { BackwardRows<a>(dx, dy, saved, adds, rows); });
}

void Gated(const Tensor& y, const Tensor& x, Activation act, Range rows) {
  for_activations(
      [&]<class V>() {
        ForActivation(act, [&]<Activation a>() HWY_ATTR { GatedRows<a>(ViewOf<V>(y), ViewOf<V>(x), rows); });
      },
      y, x);
}

void GatedBackward(const Grad& dx, const Tensor& dy, const Tensor& x, Activation act, Range rows) {
  for_activations(
      [&]<class V>() {
        ForActivation(act, [&]<Activation a>() HWY_ATTR {
          GatedBackwardRows<a>(ViewOf<V>(dx.tensor), ViewOf<V>(dy), ViewOf<V>(x), dx.adds(), rows);
        });
      },
      dx.tensor, dy, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(ActivationRows);
HWY_EXPORT(ActivationBackwardRows);
HWY_EXPORT(Gated);
HWY_EXPORT(GatedBackward);

// The forward pass of relu, the common case, is part of `linear`.
void forward(const Tensor& y, const Tensor& x, Activation act) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(ActivationRows);
  parallel_blocks(x.rows(), 16, [&](Range rows, int) { rows_of(y.view<float>(), x.view<const float>(), act, rows); });
}

void backward(Grad dx, const Tensor& dy, const Tensor& saved, Activation act) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(ActivationBackwardRows);
  parallel_blocks(dy.rows(), 16, [&](Range rows, int) {
    rows_of(dx.tensor.view<float>(), dy.view<const float>(), saved.view<const float>(), act, dx.adds(), rows);
  });
}

void gated(const Tensor& y, const Tensor& x, Activation act) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(Gated);
  parallel_blocks(y.rows(), 16, [&](Range rows, int) { rows_of(y, x, act, rows); });
}

void gated_backward(Grad dx, const Tensor& dy, const Tensor& x, Activation act) {
  const auto rows_of = HWY_DYNAMIC_DISPATCH(GatedBackward);
  parallel_blocks(dy.rows(), 16, [&](Range rows, int) { rows_of(dx, dy, x, act, rows); });
}

}  // namespace

void install_activation(ElementwiseKernels& b) {
  b.activation = forward;
  b.activation_backward = backward;
  b.gated = gated;
  b.gated_backward = gated_backward;
}

}  // namespace dragoman::cpu
#endif
