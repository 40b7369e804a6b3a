#pragma once
#include <bit>

#include "backend/cuda/async_copy.cuh"
#include "backend/cuda/four.cuh"
#include "backend/cuda/matrix_units.cuh"
#include "backend/cuda/neighbours.cuh"

/// Products of small matrices by a warp, 16 rows at a time. Factors are tiles of T, the operand type, in shared memory;
/// the first one may also be the result of another product. Sums are f32. Sentences are short, so a warp executes most
/// instructions once: what few models need is kept out of unrolled loops, or a kernel outgrows the instruction cache.
namespace dragoman::cuda {

constexpr int rows_of_warp = 16;

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
  bool wide;  // whether eight columns, from 0, 8, … on, start at a multiple of 16 bytes and lie entirely within the
              // head or entirely beyond

  __device__ HeadRows(const Values& of, int64_t first, int64_t count, int head, int64_t width)
      : data(of.row(first, head * width).data), stride(of.stride), type(of.type), count(int(count)), width(int(width)) {
    wide = reinterpret_cast<uintptr_t>(of.data) % 16 == 0 && stride % 8 == 0 && width % 8 == 0;
  }
  /// The rows from `row` on.
  __device__ HeadRows from(int row) const {
    HeadRows rest = *this;
    rest.data = this->row(row).data, rest.count -= row;
    return rest;
  }
  __device__ bool has(int row, int d) const { return row < count && d < width; }
  __device__ float operator()(int row, int d) const {
    return has(row, d) ? number_at(data, row * stride + d, type) : 0.f;
  }
  __device__ Row row(int n) const {
    return {type == DType::f32 ? (const void*)at<float>(n, 0) : at<uint16_t>(n, 0), type};
  }
  /// Where column d of a row of numbers of T is.
  template <class T>
  __device__ const T* at(int row, int d) const {
    return static_cast<const T*>(data) + row * stride + d;
  }
};

/// Rows of `columns` numbers in shared memory, padded by 16 bytes (f32: 32) so that the lanes of a product read from
/// different banks.
template <class T, int columns>
struct Tile {
  static constexpr int pairs = columns / 2, stride = pairs + 4;
  Neighbours<T>* data;

  static constexpr int64_t bytes(int rows) { return rows * stride * int64_t{sizeof(Neighbours<T>)}; }
  __device__ Tile from(int row) const { return {data + row * stride}; }
  __device__ Neighbours<T>& pair(int row, int p) const { return data[row * stride + p]; }
  /// The numbers in this row and in the next one.
  __device__ Neighbours<T> below(int row, int column) const {
    const T* const upper = reinterpret_cast<const T*>(&pair(row, 0)) + column;
    return {*upper, upper[2 * stride]};
  }
};

/// Begins to fill `rows` rows of the tile with x, by `threads` threads, a multiple of 32, each of which passes its
/// number. They then wait_for_copies: numbers that are stored as T are copied while the threads do something else.
template <int rows, class T, int columns>
__device__ void stage(Tile<T, columns> tile, const HeadRows& x, int thread, int threads) {
  constexpr int threads_of_row = columns / 8;
  const int first = thread / threads_of_row, step = threads / threads_of_row, d = thread % threads_of_row * 8;
  const bool inside = d < x.width;
  if (x.wide && x.type == dtype_of<T>()) {  // copies
    const T* from = x.at<T>(first, d);
#pragma unroll 1
    for (int row = first; row < rows; row += step, from += step * x.stride)
#pragma unroll
      for (int part = 0; part < 8; part += 16 / int(sizeof(T)))
        copy_16_bytes(&tile.pair(row, (d + part) / 2), from + part, inside && row < x.count);
    return;
  }
  if constexpr (sizeof(T) == 2)
    if (x.wide && x.type == DType::f32) {
      const float* from = x.at<float>(first, d);
#pragma unroll 4
      for (int row = first; row < rows; row += step, from += step * x.stride) {
        const Adjacent<float, 8> some =
            inside && row < x.count ? *reinterpret_cast<const Adjacent<float, 8>*>(from) : Adjacent<float, 8>();
        *reinterpret_cast<Adjacent<T, 8>*>(&tile.pair(row, d / 2)) = rounded<T>(some);
      }
      return;
    }
  for (int row = first; row < rows; row += step)
#pragma unroll 1
    for (int column = d; column < d + 8; column += 2) tile.pair(row, column / 2) = {x(row, column), x(row, column + 1)};
}

/// What a lane holds of 16 by 16 numbers as a factor: of four matrices (8,8), as `load_matrices` describes.
template <class T>
using Factor = Neighbours<T>[4];

/// The first factor of a product: rows 0 to 15 of a tile, and the 8 pairs of columns from p on.
template <class T, int columns>
__device__ void load_first(Factor<T>& a, Tile<T, columns> tile, int p) {
  const auto [g, t] = Lane();
  if constexpr (sizeof(T) == 2) {
    const int lane = int(threadIdx.x) % warp_size;
    uint32_t words[4];
    load_matrices(words, &tile.pair(lane % 16, p + lane / 16 * 4));
    for (int i = 0; i < 4; ++i) a[i].bits = words[i];
  } else {
    for (int i = 0; i < 4; ++i) a[i] = tile.pair(i % 2 * 8 + g, p + i / 2 * 4 + t);
  }
}

/// The second factor of two products with 8 results in a row each: the transposed rows r to r + 15, in the 8 pairs of
/// columns from p on. The second product is that of the last two of the four.
template <class T, int columns>
__device__ void load_rows(Factor<T>& b, Tile<T, columns> tile, int r, int p) {
  const auto [g, t] = Lane();
  if constexpr (sizeof(T) == 2) {
    const int lane = int(threadIdx.x) % warp_size;
    uint32_t words[4];
    load_matrices(words, &tile.pair(r + lane / 16 * 8 + lane % 8, p + lane / 8 % 2 * 4));
    for (int i = 0; i < 4; ++i) b[i].bits = words[i];
  } else {
    for (int i = 0; i < 4; ++i) b[i] = tile.pair(r + i / 2 * 8 + g, p + i % 2 * 4 + t);
  }
}

/// The same of columns d to d + 15, not transposed, in rows r to r + 15.
template <class T, int columns>
__device__ void load_columns(Factor<T>& b, Tile<T, columns> tile, int r, int d) {
  const auto [g, t] = Lane();
  if constexpr (sizeof(T) == 2) {
    const int lane = int(threadIdx.x) % warp_size;
    uint32_t words[4];
    load_transposed(words, &tile.pair(r + lane % 16, d / 2 + lane / 16 * 4));
    for (int i = 0; i < 4; ++i) b[i].bits = words[i];
  } else {
    for (int i = 0; i < 4; ++i) b[i] = tile.below(r + i % 2 * 8 + 2 * t, d + i / 2 * 8 + g);
  }
}

/// c (16, 8n) += a · bᵀ with 16 rows of a and 8n rows of b.
template <class T, int columns, int n>
__device__ void add_product(float (&c)[n][4], Tile<T, columns> a, Tile<T, columns> b) {
#pragma unroll
  for (int p = 0; p < columns / 2; p += 8) {
    Factor<T> of_a, of_b;
    load_first(of_a, a, p);
#pragma unroll
    for (int j = 0; j < n; j += 2) {
      load_rows(of_b, b, 8 * j, p);
      multiply<T>(c[j], of_a, {of_b[0], of_b[1]});
      multiply<T>(c[j + 1], of_a, {of_b[2], of_b[3]});
    }
  }
}

/// c (16, 8n) += a · b, where a (16, 8m) is the result of a product and b has 8m rows.
template <class T, int columns, int m, int n>
__device__ void add_product(float (&c)[n][4], const float (&a)[m][4], Tile<T, columns> b) {
  static_assert(columns == 8 * n);
#pragma unroll
  for (int k = 0; k < m / 2; ++k) {
    const float(&left)[4] = a[2 * k], (&right)[4] = a[2 * k + 1];
    const Factor<T> of_a = {{left[0], left[1]}, {left[2], left[3]}, {right[0], right[1]}, {right[2], right[3]}};
    Factor<T> of_b;
#pragma unroll
    for (int j = 0; j < n; j += 2) {
      load_columns(of_b, b, 16 * k, 8 * j);
      multiply<T>(c[j], of_a, {of_b[0], of_b[1]});
      multiply<T>(c[j + 1], of_a, {of_b[2], of_b[3]});
    }
  }
}

/// Where a warp's results go: to rows of one head.
struct HeadResults {
  Put to;
  int64_t first;
  int head;
  HeadRows rows;

  __device__ HeadResults(const Put& to, int64_t first, int64_t count, int head, int64_t width)
      : to(to), first(first), head(head), rows(to.to, first, count, head, width) {}

  /// Writes the results of a warp.
  template <int n>
  __device__ void put(const float (&result)[n][4]) const {
    if (!to) return;
    if (!rows.wide || to.adds)
      put_one_by_one(result);
    else if (rows.type == DType::f32)
      each_pair<float>(result, [](float* to, float x, float y) {
        *reinterpret_cast<Adjacent<float, 2>*>(to) = {{{x, y}}};
      });
    else
      each_pair<uint16_t>(result, [&](uint16_t* to, float x, float y) {
        *reinterpret_cast<uint32_t*>(to) = two_halves(x, y, rows.type);
      });
  }

 private:
  /// Calls store(to, x, y) for each pair of adjacent numbers, which are stored as U.
  template <class U, int n, class F>
  __device__ void each_pair(const float (&result)[n][4], const F& store) const {
    const Lane lane;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = lane.row(2 * r), d = lane.column(0, 0);
      U* const to = const_cast<U*>(rows.at<U>(row, d));
      if (row >= rows.count) continue;
#pragma unroll
      for (int j = 0; j < n; ++j)
        if (d + 8 * j < rows.width) store(to + 8 * j, result[j][2 * r], result[j][2 * r + 1]);
    }
  }
  template <int n>
  __device__ void put_one_by_one(const float (&result)[n][4]) const {
    float copy[n][4];  // registers cannot be indexed by a loop
    for (int j = 0; j < n; ++j)
      for (int e = 0; e < 4; ++e) copy[j][e] = result[j][e];
    const Lane lane;
#pragma unroll 1
    for (int i = 0; i < 4 * n; ++i) {
      const int row = lane.row(i % 4), d = lane.column(i / 4, i % 4);
      if (rows.has(row, d)) to(first + row, head * int64_t{rows.width} + d, copy[i / 4][i % 4]);
    }
  }
};

}  // namespace dragoman::cuda
