#include <cmath>
#include <cstring>

#include "backend/products.h"
#include "backend/reference/accumulate.h"
#include "backend/reference/activation.h"
#include "backend/reference/families.h"

namespace dragoman::reference {
namespace {

// Calls f with the types of a product's result and of its factors.
template <class F>
void for_product(const Tensor& result, const Tensor& factor, F f) {
  for_dtype(result.dtype(), [&]<class T>() {
    if (is_half(factor.dtype()))
      return for_half(factor.dtype(), [&]<class Half>() { f.template operator()<T, Half>(); });
    f.template operator()<T, T>();
  });
}

template <class T, class X, class W>
void forward_rows(View<T> Y, View<X> x, View<W> w, View<T> B, Activation act) {
  for (int64_t n = 0; n < Y.rows; ++n)
    for (int64_t d = 0; d < Y.cols; ++d) {
      T sum = 0;
      for (int64_t k = 0; k < x.cols; ++k) sum = std::fma(T(x(n, k)), T(w(d, k)), sum);
      Y(n, d) = activate(sum + (B ? B(d) : T(0)), act);
    }
}

// y = act(x · wᵀ + b).  y (N,D)  x (N,K)  w (D,K)  b (D) or empty. A packed w may be 16-bit while x is not.
void forward(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  for_product(y, x, [&]<class T, class X>() {
    for_product(y, w, [&]<class, class W>() { forward_rows(y.view<T>(), x.view<X>(), w.view<W>(), b.view<T>(), act); });
  });
}

// dx = dz · w
void backward_input(Grad dx, const Tensor& dz, const Tensor& w) {
  for_product(dx.tensor, dz, [&]<class T, class Factor>() {
    const auto DX = dx.tensor.view<T>();
    const auto DZ = dz.view<Factor>(), W = w.view<Factor>();
    for (int64_t n = 0; n < DX.rows; ++n)
      for (int64_t k = 0; k < DX.cols; ++k) {
        T sum = 0;
        for (int64_t d = 0; d < DZ.cols; ++d) sum += T(DZ(n, d)) * T(W(d, k));
        put(DX(n, k), sum, dx.mode);
      }
  });
}

// dw = dzᵀ · x,  db = Σ_n dz
void backward_weight(Grad dw, Grad db, const Tensor& dz, const Tensor& x) {
  for_product(dw ? dw.tensor : db.tensor, dz, [&]<class T, class Factor>() {
    const auto DW = dw.tensor.view<T>(), DB = db.tensor.view<T>();
    const auto DZ = dz.view<Factor>(), X = x.view<Factor>();
    for (int64_t d = 0; DB && d < DZ.cols; ++d) {
      T sum = 0;
      for (int64_t n = 0; n < DZ.rows; ++n) sum += T(DZ(n, d));
      put(DB(d), sum, db.mode);
    }
    for (int64_t d = 0; DW && d < DZ.cols; ++d)
      for (int64_t k = 0; k < X.cols; ++k) {
        T sum = 0;
        for (int64_t n = 0; n < DZ.rows; ++n) sum += T(DZ(n, d)) * T(X(n, k));
        put(DW(d, k), sum, dw.mode);
      }
  });
}

// dz = dy ⊙ act'(y),  db = Σ_n dz
void backward_result(const Tensor& dz, Grad db, const Tensor& dy, const Tensor& y, Activation act) {
  for_product(dy, dz, [&]<class T, class Factor>() {
    const auto DZ = dz.view<Factor>();
    const auto DY = dy.view<T>(), Y = y.view<T>(), DB = db.tensor.view<T>();
    for (int64_t d = 0; d < DY.cols; ++d) {
      T sum = 0;
      for (int64_t n = 0; n < DY.rows; ++n) {
        const T gradient = act == Activation::none ? DY(n, d) : DY(n, d) * slope(Y(n, d), act);
        sum += gradient;
        DZ(n, d) = Factor(gradient);
      }
      if (DB) put(DB(d), sum, db.mode);
    }
  });
}

// Here a packed weight is w itself (D,K); in int8 it is the bytes of (D,K) integers, then of (D) scales in f32.
int64_t packed_elements(int64_t D, int64_t K, DType packed) {
  return packed == DType::i8 ? D * K + D * int64_t{sizeof(float)} : D * K;
}

// x ≈ scale · q, q in -127…127. Returns the scale.
float quantize(int8_t* q, const float* x, int64_t K) {
  float top = 0;
  for (int64_t k = 0; k < K; ++k) top = std::max(top, std::abs(x[k]));
  const float inverse = top > 0 ? 127 / top : 0;
  for (int64_t k = 0; k < K; ++k) q[k] = int8_t(std::nearbyint(x[k] * inverse));
  return top / 127;
}

void pack_int8(const Tensor& packed, const Tensor& w) {
  const auto W = w.view<const float>();
  int8_t* out = packed.as<int8_t>();
  for (int64_t d = 0; d < W.rows; ++d) {
    const float scale = quantize(out + d * W.cols, W.row(d), W.cols);
    std::memcpy(out + W.rows * W.cols + d * sizeof scale, &scale, sizeof scale);
  }
}

void pack_rounded(const Tensor& packed, std::span<const RoundedRows> parts) {
  int64_t D = 0;
  for (const RoundedRows& part : parts) D += part.q.rows();
  auto* rows = packed.as<int8_t>();
  int8_t* scales = rows + D * parts.front().q.cols();
  for (const auto& [q, scale] : parts) {
    const auto Q = q.view<const int8_t>();
    for (int64_t d = 0; d < Q.rows; ++d) rows = std::copy_n(Q.row(d), Q.cols, rows);
    std::memcpy(scales, scale.data(), size_t(scale.bytes()));
    scales += scale.bytes();
  }
}

// Scratch holds a row of x as integers.
void linear_int8(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                 const Tensor& scratch) {
  const auto Y = y.view<float>();
  const auto X = x.view<const float>(), B = b.view<const float>();
  const int8_t* w = packed.as<int8_t>();
  auto* q = static_cast<int8_t*>(scratch.data());
  for (int64_t n = 0; n < Y.rows; ++n) {
    const float row_scale = quantize(q, X.row(n), X.cols);
    for (int64_t d = 0; d < Y.cols; ++d) {
      int32_t sum = 0;
      for (int64_t k = 0; k < X.cols; ++k) sum += int32_t{q[k]} * w[d * X.cols + k];
      float scale;
      std::memcpy(&scale, w + Y.cols * X.cols + d * sizeof scale, sizeof scale);
      Y(n, d) = activate(std::fma(float(sum) * row_scale, scale, B ? B(d) : 0.0f), act);
    }
  }
}

void pack(const Tensor& packed, const Tensor& w) {
  if (packed.dtype() == DType::i8) return pack_int8(packed, w);
  for_product(w, packed, [&]<class T, class Packed>() {
    const auto W = w.view<T>();
    Packed* out = packed.as<Packed>();
    for (int64_t d = 0; d < W.rows; ++d)
      for (int64_t k = 0; k < W.cols; ++k) *out++ = Packed(W(d, k));
  });
}

void select_packed(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
  const int64_t R = rows.elements(), bytes = K * size_of(packed.dtype());
  auto* to = static_cast<char*>(selected.data());
  const auto* from = static_cast<const char*>(packed.data());
  for (int64_t r = 0; r < R; ++r) {
    const int64_t row = rows.as<int32_t>()[r];
    std::memcpy(to + r * bytes, from + row * bytes, size_t(bytes));
    if (packed.dtype() == DType::i8)
      std::memcpy(to + R * K + r * int64_t{sizeof(float)}, from + D * K + row * int64_t{sizeof(float)}, sizeof(float));
  }
}

void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                   const Tensor& scratch) {
  if (packed.dtype() == DType::i8) return linear_int8(y, x, packed, b, act, scratch);
  forward(y, x, packed.row_range(0, y.cols() * x.cols()).reshaped({y.cols(), x.cols()}), b, act);
}

}  // namespace

void install_linear(ProductKernels& b) {
  b.linear = forward;
  b.linear_backward_input = backward_input;
  b.linear_backward_result = backward_result;
  b.linear_backward_weight = backward_weight;
  b.packed_elements = packed_elements;
  b.pack = pack;
  b.pack_rounded = pack_rounded;
  b.select_packed = select_packed;
  b.linear_packed_scratch = [](int64_t, int64_t K, DType packed) { return packed == DType::i8 ? K : 0; };
  b.linear_packed = linear_packed;
}

}  // namespace dragoman::reference
