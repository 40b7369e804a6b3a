#pragma once
#include <bit>

#include "backend/cuda/async_copy.cuh"
#include "backend/cuda/matrix_units.cuh"
#include "backend/cuda/put.cuh"

/// Products of small matrices by a warp, 16 rows at a time. The first factor is a warp's own: Fragments, or the result
/// of another product. The second one is a block's: a tile of T, the operand type, in shared memory. Sums are f32.
namespace dragoman::cuda {

constexpr int rows_of_warp = 16;

/// Two adjacent numbers along the dimension that a product sums over.
template <class T>
struct Neighbours {
  uint32_t bits;

  Neighbours() = default;
  __device__ Neighbours(T x, T y) : bits(x.bits | uint32_t{y.bits} << 16) {}
  __device__ Neighbours(float x, float y) : bits(two_halves(x, y, dtype_of<T>())) {}
  __device__ float first() const { return of_bits(uint16_t(bits)); }
  __device__ float second() const { return of_bits(uint16_t(bits >> 16)); }

 private:
  __device__ static float of_bits(uint16_t half) { return float(std::bit_cast<T>(half)); }
};
template <>
struct Neighbours<float> {
  float x, y;

  __device__ float first() const { return x; }
  __device__ float second() const { return y; }
};

__device__ inline void multiply_halves(bfloat16, float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  multiply_bf16(c, a, b);
}
__device__ inline void multiply_halves(float16, float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  multiply_f16(c, a, b);
}

/// c (16,8) += a (16,16) · b (16,8). A lane passes rows g, g + 8 of a, columns 0-7, then 8-15; column g of b.
template <class T>
__device__ void multiply(float (&c)[4], const Neighbours<T> (&a)[4], const Neighbours<T> (&b)[2]) {
  multiply_halves(T(), c, {a[0].bits, a[1].bits, a[2].bits, a[3].bits}, {b[0].bits, b[1].bits});
}

/// A float as the sum of two numbers that matrix units represent exactly, to within 2^-22 of its value.
struct Split {
  uint32_t large, small;

  __device__ static uint32_t rounded(float x) {
    if (x != x) return 0x7fc00000;  // the NaN that GPUs produce, 0x7fffffff, would become 0
    return (std::bit_cast<uint32_t>(x) + 0x1000) & ~uint32_t{0x1fff};
  }
  __device__ explicit Split(float x) : large(rounded(x)), small(rounded(x - std::bit_cast<float>(large))) {}
};

// Large times large plus the two mixed products give nearly an f32 product. Columns t and t + 4 of the instruction are
// 2t and 2t + 1 here: the order of summation does not matter. The instruction rounds its accumulator towards zero,
// which would make long sums too small, so c is added separately.
template <>
__device__ inline void multiply(float (&c)[4], const Neighbours<float> (&a)[4], const Neighbours<float> (&b)[2]) {
  float sum[4] = {};
  for (int half = 0; half < 2; ++half) {
    const Neighbours<float>&upper = a[2 * half], &lower = a[2 * half + 1];
    const Split a0(upper.x), a1(lower.x), a2(upper.y), a3(lower.y), b0(b[half].x), b1(b[half].y);
    multiply_tf32(sum, {a0.small, a1.small, a2.small, a3.small}, {b0.large, b1.large});
    multiply_tf32(sum, {a0.large, a1.large, a2.large, a3.large}, {b0.small, b1.small});
    multiply_tf32(sum, {a0.large, a1.large, a2.large, a3.large}, {b0.large, b1.large});
  }
  for (int e = 0; e < 4; ++e) c[e] += sum[e];
}

/// The position of a lane in the (16,8) results of products: element e of tile j is (row(e), column(j, e)).
struct Lane {
  int g = int(threadIdx.x) % warp_size / 4, t = int(threadIdx.x) % 4;

  __device__ Lane() {}
  __device__ int row(int e) const { return g + (e < 2 ? 0 : 8); }
  __device__ int column(int j, int e) const { return 8 * j + 2 * t + e % 2; }
};

/// n adjacent numbers of a row.
template <class T, int n>
struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Adjacent {
  Neighbours<T> pairs[n / 2];
};

/// Not inlined, so that what few models need takes few instructions of those that all need.
[[gnu::noinline]] inline __device__ float number_at(const void* data, int64_t at, DType type) {
  return Row{data, type}[at];
}

/// One head's rows of a matrix: `count` rows from `first` on, `width` columns of each. 0 beyond them.
struct HeadRows {
  const void* data;
  int64_t stride;  // in numbers
  DType type;
  int count, width;
  bool wide;  // whether eight columns, from 0, 8, … on, start at a multiple of 16 bytes and lie within the head or
              // beyond

  __device__ HeadRows(const Values& of, int64_t first, int64_t count, int head, int64_t width)
      : data(of.row(first, head * width).data), stride(of.stride), type(of.type), count(int(count)), width(int(width)) {
    wide = reinterpret_cast<uintptr_t>(of.data) % 16 == 0 && stride % 8 == 0 && width % 8 == 0;
  }
  __device__ bool has(int row, int d) const { return row < count && d < width; }
  __device__ float operator()(int row, int d) const {
    return has(row, d) ? number_at(data, row * stride + d, type) : 0.f;
  }
  /// Where column d of a row of numbers of T is.
  template <class T>
  __device__ const T* at(int row, int d) const {
    return static_cast<const T*>(data) + row * stride + d;
  }
  /// The n columns from d on of a row of numbers of T, if it is wide.
  template <class T, int n>
  __device__ Adjacent<T, n> stored(int row, int d) const {
    return has(row, d) ? *reinterpret_cast<const Adjacent<T, n>*>(at<T>(row, d)) : Adjacent<T, n>();
  }
};

template <class T, int n>
__device__ Adjacent<T, n> rounded(const Adjacent<float, n>& x) {
  Adjacent<T, n> y;
  for (int p = 0; p < n / 2; ++p) y.pairs[p] = {x.pairs[p].x, x.pairs[p].y};
  return y;
}

/// Calls f with a function of a row and a column d, a multiple of n, that returns the n columns from d on. It is one of
/// three, so that loops over rows contain no branches and their accesses overlap.
template <class T, int n, class F>
__device__ void with_reader(const HeadRows& x, const F& f) {
  if (x.wide && x.type == dtype_of<T>()) return f([&](int row, int d) { return x.stored<T, n>(row, d); });
  if (x.wide && x.type == DType::f32)
    return f([&](int row, int d) { return rounded<T, n>(x.stored<float, n>(row, d)); });
  f([&](int row, int d) {
    Adjacent<float, n> some;
    for (int p = 0; p < n / 2; ++p) some.pairs[p] = {x(row, d + 2 * p), x(row, d + 2 * p + 1)};
    return rounded<T, n>(some);
  });
}

/// Rows of `columns` numbers in shared memory, padded by four pairs so that the lanes of a product read from different
/// banks.
template <class T, int columns>
struct Tile {
  static constexpr int pairs = columns / 2, stride = pairs + 4;
  Neighbours<T>* data;

  static constexpr int64_t bytes(int rows) { return rows * stride * int64_t{sizeof(Neighbours<T>)}; }
  __device__ Neighbours<T>& pair(int row, int p) const { return data[row * stride + p]; }
  /// The numbers in this row and in the next one.
  __device__ Neighbours<T> below(int row, int column) const {
    const T* const upper = reinterpret_cast<const T*>(&pair(row, 0)) + column;
    return {*upper, upper[2 * stride]};
  }
};

/// Allocates tiles one after another from the block's dynamic shared memory.
template <class T>
struct TileMemory {
  Neighbours<T>* next = dynamic_shared<Neighbours<T>>();

  template <int columns>
  __device__ void take(Tile<T, columns>& tile, int rows) {
    tile.data = next;
    next += rows * Tile<T, columns>::stride;
  }
};

/// Begins to fill `rows` rows of the tile with x; called by all threads of the block, which then wait_for_copies.
/// Numbers that are stored as T are copied while the threads do something else.
template <int rows, class T, int columns>
__device__ void stage(Tile<T, columns> tile, const HeadRows& x) {
  const auto each = [&](const auto& f) {
#pragma unroll 4
    for (int i = int(threadIdx.x); i < rows * (columns / 8); i += int(blockDim.x))
      f(i / (columns / 8), i % (columns / 8) * 8);
  };
  if constexpr (sizeof(T) == 2)
    if (x.wide && x.type == dtype_of<T>())
      return each([&](int row, int d) { copy_16_bytes(&tile.pair(row, d / 2), x.at<T>(row, d), x.has(row, d)); });
  with_reader<T, 8>(x, [&](const auto& read) {
    each([&](int row, int d) { reinterpret_cast<Adjacent<T, 8>&>(tile.pair(row, d / 2)) = read(row, d); });
  });
}

/// A warp's 16 rows of x as the first factor of products: what a lane holds of 16 columns at a time.
template <class T, int columns>
struct Fragments {
  Neighbours<T> at[columns / 16][4];

  __device__ explicit Fragments(const HeadRows& x) {
    const auto [g, t] = Lane();
    with_reader<T, 2>(x, [&, g = g, t = t](const auto& read) {
#pragma unroll
      for (int k = 0; k < columns / 16; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) at[k][i] = read(g + i % 2 * 8, 16 * k + 2 * t + i / 2 * 8).pairs[0];
    });
  }
};

/// c (16, 8n) += a · bᵀ with 8n rows of b.
template <class T, int columns, int n>
__device__ void add_product(float (&c)[n][4], const Fragments<T, columns>& a, Tile<T, columns> b) {
  const auto [g, t] = Lane();
#pragma unroll
  for (int k = 0; k < columns / 16; ++k)
#pragma unroll
    for (int j = 0; j < n; ++j)
      multiply<T>(c[j], a.at[k], {b.pair(8 * j + g, 8 * k + t), b.pair(8 * j + g, 8 * k + t + 4)});
}

/// c (16, 8n) += a · b, where a (16, 8m) is the result of a product and b has 8m rows.
template <class T, int columns, int m, int n>
__device__ void add_product(float (&c)[n][4], const float (&a)[m][4], Tile<T, columns> b) {
  static_assert(columns == 8 * n);
  const auto [g, t] = Lane();
#pragma unroll
  for (int k = 0; k < m / 2; ++k) {
    const float(&left)[4] = a[2 * k], (&right)[4] = a[2 * k + 1];
    const Neighbours<T> of_a[4] = {{left[0], left[1]}, {left[2], left[3]}, {right[0], right[1]}, {right[2], right[3]}};
    const int row = 16 * k + 2 * t;
#pragma unroll
    for (int j = 0; j < n; ++j) multiply<T>(c[j], of_a, {b.below(row, 8 * j + g), b.below(row + 8, 8 * j + g)});
  }
}

/// Where a warp's results go: to rows of one head.
struct HeadResults {
  Put to;
  int64_t first, column;
  HeadRows rows;

  __device__ HeadResults(const Put& to, int64_t first, int64_t count, int head, int64_t width)
      : to(to), first(first), column(head * width), rows(to.to, first, count, head, width) {}
  __device__ void put(int row, int d, float x, float y) const {
    if (!to || !rows.has(row, d)) return;
    if (!rows.wide || to.adds) {
      to(first + row, column + d, x);
      if (d + 1 < rows.width) to(first + row, column + d + 1, y);
    } else if (rows.type == DType::f32) {
      *reinterpret_cast<Adjacent<float, 2>*>(const_cast<float*>(rows.at<float>(row, d))) = {{{x, y}}};
    } else {
      *reinterpret_cast<uint32_t*>(const_cast<uint16_t*>(rows.at<uint16_t>(row, d))) = two_halves(x, y, rows.type);
    }
  }
};

}  // namespace dragoman::cuda
