#pragma once
#include <array>

#include "backend/cuda/device.cuh"
#include "backend/dropout.h"

namespace dragoman::cuda {

/// Dropout factors in kernels: the same numbers as dropout_factor (backend/dropout.h), eight per Philox call.
struct Mask {
  const int32_t* positions = nullptr;  // (N,2); null: everything is kept
  PhiloxKey key = {};
  uint32_t threshold = 0, op = 0;
  float scale = 1;

  static constexpr int width = 8;  // a unit is the columns column(unit, 0) … column(unit, 7)
  using Factors = std::array<float, width>;

  Mask() = default;
  explicit Mask(const Dropout& d) {
    if (!d.active()) return;
    positions = integers(d.positions);
    key = d.key();
    threshold = d.threshold();
    op = d.op;
    scale = float(d.scale());
  }

  static constexpr int64_t units(int64_t columns) { return (columns + 127) / 128 * 16; }
  static constexpr int64_t column(int64_t unit, int j) { return unit / 16 * 128 + 16 * j + unit % 16; }

  /// What the numbers of a row are drawn from.
  struct Position {
    int32_t sentence = 0, token = 0;
  };
  __device__ Position position_of(int64_t row) const {
    return positions ? Position{positions[2 * row], positions[2 * row + 1]} : Position{};
  }
  __device__ PhiloxCounter draw(Position of, uint32_t stream, uint32_t unit) const {
    return philox({unit, uint32_t(of.token), uint32_t(of.sentence), stream}, key);
  }
  __device__ PhiloxCounter draw(int64_t row, uint32_t stream, uint32_t unit) const {
    return draw(position_of(row), stream, unit);
  }
  __device__ bool keeps(const PhiloxCounter& words, int j) const {
    return (words[j / 2] >> (16 * (j % 2)) & 0xFFFF) >= threshold;
  }
  __device__ float factor_of(const PhiloxCounter& words, int j) const { return keeps(words, j) ? scale : 0.f; }
  __device__ Factors factors(int64_t row, int64_t unit) const {
    Factors f;
    if (positions) {
      const PhiloxCounter words = draw(row, op, uint32_t(unit));
      for (int j = 0; j < width; ++j) f[j] = factor_of(words, j);
    } else {
      for (int j = 0; j < width; ++j) f[j] = 1;
    }
    return f;
  }
  /// Bit j: whether column(unit, j) is kept. Only if there is a mask.
  __device__ unsigned kept(Position of, int64_t unit) const {
    const PhiloxCounter words = draw(of, op, uint32_t(unit));
    unsigned bits = 0;
    for (int j = 0; j < width; ++j) bits |= unsigned(keeps(words, j)) << j;
    return bits;
  }
  /// A column is column(unit_of(c), number_of(c)).
  static constexpr uint32_t unit_of(int64_t column) { return uint32_t(column / 128 * 16 + column % 16); }
  static constexpr int number_of(int64_t column) { return int(column % 128 / 16); }
  /// The factor of one attention weight.
  __device__ float factor(int64_t row, uint32_t stream, int64_t column) const {
    return positions ? factor_of(draw(row, stream, unit_of(column)), number_of(column)) : 1.f;
  }
};

/// Calls put(row, column, factor · value(row, column)) on the device for every element of a masked matrix. Reads the
/// values of a unit before it writes, so that the reads overlap.
template <class Value, class F>
void each_masked(int64_t rows, int64_t cols, const Mask& mask, Value value, F put) {
  each_element(rows, Mask::units(cols), [=] __device__(int64_t row, int64_t unit) {
    float values[Mask::width];
    for (int j = 0; j < Mask::width; ++j) {
      const int64_t column = Mask::column(unit, j);
      values[j] = column < cols ? float(value(row, column)) : 0.f;
    }
    const Mask::Factors factors = mask.factors(row, unit);
    for (int j = 0; j < Mask::width; ++j) {
      const int64_t column = Mask::column(unit, j);
      if (column < cols) put(row, column, factors[j] * values[j]);
    }
  });
}

}  // namespace dragoman::cuda
