#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_packed.cpp"
#include <hwy/foreach_target.h>
//
#include "backend/cpu/linear_packed.h"

#include "backend/cpu/families.h"
#include "backend/cpu/linear_int8.h"
#include "backend/cpu/simd-inl.h"
#include "backend/products.h"
#include "base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

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

// Size of a tile, in rows and vectors of columns. Its accumulators fill the registers; of all shapes that do, this one
// needs the fewest loads.
#if HWY_TARGET <= HWY_AVX3
constexpr int tile_rows = 6;  // 24 accumulators of 32 registers
template <int M>
constexpr int tile_vectors = 4;
#else
constexpr int tile_rows = 3;  // 12 accumulators of 16
template <int M>
constexpr int tile_vectors = M == 1 ? 8 : 4;  // a single row needs them to keep the multipliers busy
#endif

// What a tile prefetches while it computes: its share of the next panel, which comes from an outer cache or from
// memory. One line of 64 bytes at each k, so with few tiles the hardware prefetches the rest. After the last panel the
// prefetch is useless but harmless.
template <class Weight>
struct Ahead {
  const Weight* from;
  int64_t step;  // weights at each k
};

// Some rows × some columns of a panel: accumulators stay in registers over all of K, each one chain of multiply-adds in
// the order of k. One load of w serves all rows.
template <int M, int P, class Weight>
HWY_INLINE void Tile(View<float> y, const float* x, int64_t x_stride, const Weight* w, const float* bias, int64_t K,
                     Activation act, Ahead<Weight> next) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t L = hn::MaxLanes(hn::CappedTag<float, 16>());
  V sums[M][P];
  for (int m = 0; m < M; ++m)
    for (int p = 0; p < P; ++p) sums[m][p] = hn::Zero(d);
  for (int64_t k = 0; k < K; ++k) {
    __builtin_prefetch(next.from + k * next.step, 0, 2);  // into L2
    V column[P];
    for (int p = 0; p < P; ++p) column[p] = Weights(d, w + k * packed_panel + p * L);
    for (int m = 0; m < M; ++m) {
      const V a = hn::Set(d, x[m * x_stride + k]);
      for (int p = 0; p < P; ++p) sums[m][p] = hn::MulAdd(a, column[p], sums[m][p]);
    }
  }
  HWY_ALIGN float row[P * L];
  for (int m = 0; m < M; ++m) {
    float* const to = y.cols == P * L ? y.row(m) : row;
    for (int p = 0; p < P; ++p) {
      V v = sums[m][p];
      if (bias) v = hn::Add(v, hn::LoadU(d, bias + p * L));
      if (act == Activation::relu) v = hn::Max(v, hn::Zero(d));
      hn::StoreU(v, d, to + p * L);
    }
    if (to == row) std::copy_n(row, y.cols, y.row(m));
  }
}

// Some rows × a panel; writes only the columns that exist.
template <int M, class Weight>
HWY_INLINE void Tiles(View<float> y, const float* x, int64_t x_stride, const Weight* w, const float* bias, int64_t K,
                      Activation act, Ahead<Weight> next) {
  if constexpr (M > 0) {
    if (y.rows < M) return Tiles<M - 1>(y, x, x_stride, w, bias, K, act, next);
    constexpr int P = tile_vectors<M>;
    constexpr int64_t columns = P * hn::MaxLanes(hn::CappedTag<float, 16>());
    for (int64_t c = 0; c < y.cols; c += columns)
      Tile<M, P>(View<float>{y.data + c, y.rows, std::min(columns, y.cols - c), y.stride}, x, x_stride, w + c,
                 bias ? bias + c : nullptr, K, act, next);
  }
}

// One panel of y. Its rows are divided evenly into tiles, and the panel of w stays in L2 while x streams through.
template <class Weight>
HWY_INLINE void Panel(View<float> y, View<const float> x, const Weight* w, const float* bias, Activation act) {
  const int64_t K = x.cols, tiles = (x.rows + tile_rows - 1) / tile_rows;
  HWY_ALIGN float padded_bias[packed_panel] = {};
  if (bias) std::copy_n(bias, y.cols, padded_bias);
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t n = x.rows * t / tiles, rows = x.rows * (t + 1) / tiles - n;
    const Ahead<Weight> next = {w + K * packed_panel * (tiles + t) / tiles, (packed_panel + tiles - 1) / tiles};
    Tiles<tile_rows>(View<float>{y.row(n), rows, y.cols, y.stride}, x.row(n), x.stride, w, bias ? padded_bias : nullptr,
                     K, act, next);
  }
}

// The columns of panel p of y, for some rows.
void PackedPanel(View<float> y, View<const float> x, const Tensor& packed, int64_t p, const float* bias,
                 Activation act) {
  const int64_t first = p * packed_panel * x.cols;
  if (packed.dtype() == DType::bf16)
    Panel(y, x, packed.as<const bfloat16>() + first, bias, act);
  else
    Panel(y, x, packed.as<const float>() + first, bias, act);
}

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(PackedPanel);

// (D,K) becomes (panels, K, 64), zero-padded after the last column.
template <class Weight>
void pack(Weight* out, const Tensor& w) {
  const auto W = w.view<const float>();
  parallel_blocks(panels_of(W.rows), 1, [&](Range panels, int) {
    for (int64_t p = panels.begin; p < panels.end; ++p)
      for (int64_t k = 0; k < W.cols; ++k)
        for (int64_t c = 0; c < packed_panel; ++c)
          out[(p * W.cols + k) * packed_panel + c] =
              Weight(p * packed_panel + c < W.rows ? W(p * packed_panel + c, k) : 0);
  });
}

// Ascending rows visit panels one after the other, so a panel is read while it is in the cache.
template <class Weight>
void select(Weight* selected, const Weight* packed, const Tensor& rows, int64_t K) {
  const auto* wanted = rows.as<int32_t>();
  const int64_t R = rows.elements();
  parallel_blocks(panels_of(R), 1, [&](Range panels, int) {
    for (int64_t p = panels.begin; p < panels.end; ++p) {
      Weight* to = selected + p * K * packed_panel;
      std::fill_n(to, K * packed_panel, Weight(0));
      for (int64_t c = 0; c < std::min(packed_panel, R - p * packed_panel); ++c) {
        const int64_t row = wanted[p * packed_panel + c];
        const Weight* from = packed + row / packed_panel * K * packed_panel + row % packed_panel;
        for (int64_t k = 0; k < K; ++k) to[k * packed_panel + c] = from[k * packed_panel];
      }
    }
  });
}

}  // namespace

// Threads share the panels of columns, and also the rows if panels are few. No sum is split between threads, so the
// result does not depend on their number.
void linear_packed(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear_packed fuses relu only");
  const auto X = x.view<const float>();
  const auto Y = y.view<float>();
  const auto product = HWY_DYNAMIC_DISPATCH(PackedPanel);
  each_panel(X.rows, X.cols, Y.cols, 1 << 16, [&](int64_t p, Range rows) {
    const int64_t from = p * packed_panel, count = rows.end - rows.begin;
    product({Y.row(rows.begin) + from, count, std::min(packed_panel, Y.cols - from), Y.stride},
            {X.row(rows.begin), count, X.cols, X.stride}, packed, p, b ? b.as<float>() + from : nullptr, act);
  });
}

void install_linear_packed(ProductKernels& b) {
  b.packed_elements = [](int64_t D, int64_t K, DType packed) {
    return packed == DType::i8 ? int8_bytes(D, K) : panels_of(D) * packed_panel * K;
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
