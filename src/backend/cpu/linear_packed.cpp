#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_packed.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/linear_packed.h"

#include "backend/cpu/families.h"
#include "backend/cpu/linear_int8.h"
#include "backend/cpu/simd-inl.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

constexpr int64_t panel = 32;  // columns of a packed panel, whatever the vector length: files and tests do not vary

template <class D>
HWY_INLINE hn::Vec<D> Weights(D d, const float* w) {
  return hn::LoadU(d, w);
}
template <class D>
HWY_INLINE hn::Vec<D> Weights(D d, const bfloat16* w) {
  const hn::RebindToUnsigned<D> d32;
  const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(w));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, halves)));
}

// A tile of M rows × one panel of packed columns: M·32/L accumulators stay in registers over the whole of K, each one
// chain of multiply-adds in the order of k. One load of w serves M rows.
template <int M, class Weight>
HWY_INLINE void Tile(float* y, int64_t y_stride, const float* x, int64_t x_stride, const Weight* w, const float* bias,
                     int64_t K, int64_t columns, Activation act) {
  const hn::CappedTag<float, panel> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t L = hn::MaxLanes(hn::CappedTag<float, panel>()), P = panel / L;
  V sums[M][P];
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p) sums[m][p] = hn::Zero(d);
  for (int64_t k = 0; k < K; ++k) {
    V column[P];
    for (int p = 0; p < P; ++p) column[p] = Weights(d, w + k * panel + p * L);
    for (int m = 0; m < M; ++m) {
      const V a = hn::Set(d, x[m * x_stride + k]);
      for (int p = 0; p < P; ++p) sums[m][p] = hn::MulAdd(a, column[p], sums[m][p]);
    }
  }
  HWY_ALIGN float row[panel];
  for (int m = 0; m < M; ++m) {
    for (int p = 0; p < P; ++p) {
      V v = sums[m][p];
      if (bias) v = hn::Add(v, hn::LoadU(d, bias + p * L));
      if (act == Activation::relu) v = hn::Max(v, hn::Zero(d));
      if (columns == panel) {
        hn::StoreU(v, d, y + m * y_stride + p * L);
      } else {
        hn::Store(v, d, row + p * L);
      }
    }
    if (columns < panel) std::copy_n(row, columns, y + m * y_stride);
  }
}

#if HWY_TARGET <= HWY_AVX3
constexpr int tile_rows = 12;  // 24 accumulators of 32 registers
#else
constexpr int tile_rows = 3;  // 12 accumulators of 16
#endif

template <int M, class Weight>
HWY_INLINE void Remainder(int64_t rows, float* y, int64_t y_stride, const float* x, int64_t x_stride, const Weight* w,
                          const float* bias, int64_t K, int64_t columns, Activation act) {
  if constexpr (M > 0) {
    if (rows == M) return Tile<M>(y, y_stride, x, x_stride, w, bias, K, columns, act);
    Remainder<M - 1>(rows, y, y_stride, x, x_stride, w, bias, K, columns, act);
  }
}

// Panels [panels.begin, panels.end) of y for all rows. A panel of w stays in L2 while x passes by.
template <class Weight>
HWY_INLINE void Panels(View<float> Y, View<const float> X, const Weight* packed, const float* bias, Activation act,
                       Range panels) {
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const int64_t from = p * panel, columns = std::min(panel, Y.cols - from);
    const Weight* w = packed + from * X.cols;
    HWY_ALIGN float padded_bias[panel] = {};
    if (bias) std::copy_n(bias + from, columns, padded_bias);
    const float* b = bias ? padded_bias : nullptr;
    int64_t n = 0;
    for (; n + tile_rows <= X.rows; n += tile_rows)
      Tile<tile_rows>(Y.row(n) + from, Y.stride, X.row(n), X.stride, w, b, X.cols, columns, act);
    Remainder<tile_rows - 1>(X.rows - n, Y.row(n) + from, Y.stride, X.row(n), X.stride, w, b, X.cols, columns, act);
  }
}

void PackedPanels(View<float> Y, View<const float> X, const Tensor& packed, const float* bias, Activation act,
                  Range panels) {
  if (packed.dtype() == DType::bf16)
    Panels(Y, X, packed.as<const bfloat16>(), bias, act, panels);
  else
    Panels(Y, X, packed.as<const float>(), bias, act, panels);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(PackedPanels);

constexpr int64_t panel = 32;

int64_t panels_of(int64_t D) { return (D + panel - 1) / panel; }

// (D,K) becomes (panels, K, 32), zeros behind the last column.
template <class Weight>
void pack(Weight* out, const Tensor& w) {
  const auto W = w.view<const float>();
  parallel_blocks(panels_of(W.rows), 1, [&](Range panels, int) {
    for (int64_t p = panels.begin; p < panels.end; ++p)
      for (int64_t k = 0; k < W.cols; ++k)
        for (int64_t c = 0; c < panel; ++c)
          out[(p * W.cols + k) * panel + c] = Weight(p * panel + c < W.rows ? W(p * panel + c, k) : 0);
  });
}

// Rising rows lie in few panels, one after the other, so a panel is read while it is in the cache.
template <class Weight>
void select(Weight* selected, const Weight* packed, const Tensor& rows, int64_t K) {
  const auto* wanted = rows.as<int32_t>();
  const int64_t R = rows.elements();
  parallel_blocks(panels_of(R), 1, [&](Range panels, int) {
    for (int64_t p = panels.begin; p < panels.end; ++p) {
      Weight* to = selected + p * K * panel;
      std::fill_n(to, K * panel, Weight(0));
      for (int64_t c = 0; c < std::min(panel, R - p * panel); ++c) {
        const int64_t row = wanted[p * panel + c];
        const Weight* from = packed + row / panel * K * panel + row % panel;
        for (int64_t k = 0; k < K; ++k) to[k * panel + c] = from[k * panel];
      }
    }
  });
}

}  // namespace

// Threads share the panels of columns and meet no sum, so their number changes nothing.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear_packed fuses relu only");
  const auto panels_fn = HWY_DYNAMIC_DISPATCH(PackedPanels);
  const int64_t worth_a_thread = 1 << 16;  // multiply-adds: less than that is done before another thread wakes
  const int64_t grain = 1 + worth_a_thread / std::max<int64_t>(1, x.rows() * x.cols() * panel);
  parallel_blocks(panels_of(y.cols()), grain, [&](Range panels, int) {
    panels_fn(y.view<float>(), x.view<const float>(), packed, b ? b.as<float>() : nullptr, act, panels);
  });
}

void install_linear_packed(Backend& b) {
  b.packed_elements = [](int64_t D, int64_t K, DType packed) {
    return packed == DType::i8 ? int8_bytes(D, K) : panels_of(D) * panel * K;
  };
  b.pack = [](const Tensor& packed, const Tensor& w) {
    if (packed.dtype() == DType::i8) return pack_int8(packed, w);
    packed.dtype() == DType::bf16 ? pack(packed.as<bfloat16>(), w) : pack(packed.as<float>(), w);
  };
  b.pack_rounded = pack_rounded;
  b.select_packed = [](const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K) {
    if (packed.dtype() == DType::i8) return select_int8(selected, packed, rows, D, K);
    if (packed.dtype() == DType::bf16) return select(selected.as<bfloat16>(), packed.as<bfloat16>(), rows, K);
    select(selected.as<float>(), packed.as<float>(), rows, K);
  };
  b.linear_packed_scratch = [](int64_t N, int64_t K, DType packed) {
    return packed == DType::i8 ? linear_int8_scratch(N, K) : 0;
  };
  b.linear_packed = [](const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                       const Tensor& scratch) {
    packed.dtype() == DType::i8 ? linear_int8(y, x, packed, b, act, scratch) : linear_packed(y, x, packed, b, act);
  };
}

}  // namespace dragoman::cpu
#endif
