#pragma once
#include <bit>

#include "backend/cuda/device.cuh"
#include "backend/cuda/matrix_units.cuh"
#include "backend/cuda/values.cuh"

/// Products of small matrices by a warp, 16 rows at a time. The second factor, and the first unless it is the result of
/// another product, lie in shared memory as tiles of T, the operand type; sums are f32.
namespace dragoman::cuda {

constexpr int rows_of_warp = 16;

/// Two adjacent numbers along the dimension that a product sums over.
template <class T>
struct Neighbours {
  uint32_t bits;
  Neighbours() = default;
  __device__ Neighbours(T x, T y) : bits(x.bits | uint32_t{y.bits} << 16) {}
  __device__ Neighbours(float x, float y) : Neighbours(T(x), T(y)) {}
};
template <>
struct Neighbours<float> {
  float x, y;
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

/// Rows of `columns` numbers in shared memory, padded by four pairs so that the lanes of a product read from different
/// banks.
template <class T, int columns>
struct Tile {
  static constexpr int pairs = columns / 2, stride = pairs + 4;
  Neighbours<T>* data;

  static constexpr int64_t bytes(int rows) { return rows * stride * int64_t{sizeof(Neighbours<T>)}; }
  __device__ Neighbours<T>& pair(int row, int p) const { return data[row * stride + p]; }
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

/// One head's rows of a matrix: `count` rows from `first` on, `width` columns from `column` on. 0 beyond them.
struct HeadRows {
  Values of;
  int64_t first;
  int count;
  int64_t column;
  int width;

  __device__ bool has(int row, int d) const { return row < count && d < width; }
  __device__ float operator()(int row, int d) const { return has(row, d) ? of(first + row, column + d) : 0.f; }
  /// The same of a matrix of T.
  template <class T>
  __device__ T stored(int row, int d) const {
    return has(row, d) ? *of.at<T>(first + row, column + d) : T{};
  }
};

/// Four pairs of neighbours of a 16-bit type.
template <class T>
struct alignas(16) Eight {
  Neighbours<T> pairs[4];

  /// Columns d to d + 7 of a row that is stored as T: 16 bytes in one access if they start at a multiple of that.
  __device__ Eight(const HeadRows& x, int row, int d) {
    const T* const from = x.of.at<T>(x.first + row, x.column + d);
    if (x.has(row, d + 7) && reinterpret_cast<uintptr_t>(from) % sizeof(Eight) == 0)
      *this = *reinterpret_cast<const Eight*>(from);
    else
      for (int p = 0; p < 4; ++p) pairs[p] = {x.stored<T>(row, d + 2 * p), x.stored<T>(row, d + 2 * p + 1)};
  }
};

/// Fills the `rows` rows of the tile with x; called by all threads of the block. Numbers that are stored as T are
/// copied unchanged: half the bytes of f32, 16 bytes per access.
template <class T, int columns>
__device__ void stage(Tile<T, columns> tile, int rows, const HeadRows& x) {
  constexpr int pairs = Tile<T, columns>::pairs;
  if constexpr (sizeof(T) == 2)
    if (x.of.type == dtype_of<T>()) {
      for (int i = int(threadIdx.x); i < rows * (pairs / 4); i += int(blockDim.x)) {
        const int row = i / (pairs / 4), p = i % (pairs / 4) * 4;
        reinterpret_cast<Eight<T>&>(tile.pair(row, p)) = Eight<T>(x, row, 2 * p);
      }
      return;
    }
  for (int i = int(threadIdx.x); i < rows * pairs; i += int(blockDim.x)) {
    const int row = i / pairs, p = i % pairs;
    tile.pair(row, p) = {x(row, 2 * p), x(row, 2 * p + 1)};
  }
}

/// Fills the `rows` rows of the tile with xᵀ; called by all threads of the block.
template <class T, int columns>
__device__ void stage_transposed(Tile<T, columns> tile, int rows, const HeadRows& x) {
  const auto fill = [&](const auto& number) {
    for (int i = int(threadIdx.x); i < rows * Tile<T, columns>::pairs; i += int(blockDim.x)) {
      const int row = i % rows, p = i / rows;
      tile.pair(row, p) = {number(2 * p, row), number(2 * p + 1, row)};
    }
  };
  if constexpr (sizeof(T) == 2)
    if (x.of.type == dtype_of<T>()) return fill([&](int row, int d) { return x.stored<T>(row, d); });
  fill(x);
}

/// c (16, 8n) += a · bᵀ with 16 rows of a from `row` on and 8n rows of b.
template <class T, int columns, int n>
__device__ void add_product(float (&c)[n][4], Tile<T, columns> a, int row, Tile<T, columns> b) {
  const auto [g, t] = Lane();
  for (int k = t; k < Tile<T, columns>::pairs; k += 8) {
    const Neighbours<T> of_a[4] = {a.pair(row + g, k), a.pair(row + g + 8, k), a.pair(row + g, k + 4),
                                   a.pair(row + g + 8, k + 4)};
#pragma unroll
    for (int j = 0; j < n; ++j) multiply<T>(c[j], of_a, {b.pair(8 * j + g, k), b.pair(8 * j + g, k + 4)});
  }
}

/// c (16, 8n) += a · bᵀ, where a (16, columns) is the result of a product.
template <class T, int columns, int n>
__device__ void add_product(float (&c)[n][4], const float (&a)[columns / 8][4], Tile<T, columns> b) {
  const auto [g, t] = Lane();
#pragma unroll
  for (int k = 0; k < columns / 16; ++k) {
    const float(&left)[4] = a[2 * k], (&right)[4] = a[2 * k + 1];
    const Neighbours<T> of_a[4] = {{left[0], left[1]}, {left[2], left[3]}, {right[0], right[1]}, {right[2], right[3]}};
#pragma unroll
    for (int j = 0; j < n; ++j)
      multiply<T>(c[j], of_a, {b.pair(8 * j + g, 8 * k + t), b.pair(8 * j + g, 8 * k + t + 4)});
  }
}

}  // namespace dragoman::cuda
