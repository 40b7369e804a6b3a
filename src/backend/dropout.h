#pragma once
#include <cmath>
#include <cstdint>

#include "base/philox.h"
#include "tensor/tensor.h"

namespace dragoman {

/// Inverted dropout (Srivastava et al. 2014) whose mask is a function of (seed, update, op, sentence, token, column):
/// the same in every batch, backend and order, and backward regenerates it.
///
/// One Philox call gives eight 16-bit numbers. Columns are taken in groups of 128: counter `lane` (0…15) of a group
/// gives, as its j-th number, the fate of column 128·group + 16·j + lane, so that sixteen lanes of a vector draw
/// neighbouring columns without a shuffle.
struct Dropout {
  double rate = 0;
  uint64_t seed = 0;
  uint32_t update = 0;  // counts optimizer updates
  uint32_t op = 0;      // which application of dropout in the model
  Tensor positions;     // (N,2) int32, for each row: sentence in the corpus, token in the sentence

  bool active() const { return rate > 0; }
  uint32_t threshold() const { return uint32_t(std::lround(rate * 65536)); }  // numbers below it drop elements
  double scale() const { return 65536.0 / (65536 - threshold()); }            // of kept elements
  PhiloxKey key() const { return {uint32_t(seed) ^ uint32_t(seed >> 32) * 0x9E3779B9u, update}; }
};

/// The factor (0 or scale) of one element: the definition that fast kernels follow. `stream` is drop.op, or for
/// attention weights op · 4096 + head.
inline double dropout_factor(const Dropout& drop, int64_t row, uint32_t stream, int64_t column) {
  if (!drop.active()) return 1;
  const auto positions = drop.positions.view<int32_t>();
  const auto sentence = uint32_t(positions(row, 0)), token = uint32_t(positions(row, 1));
  const auto group = uint32_t(column / 128), j = uint32_t(column % 128 / 16), lane = uint32_t(column % 16);
  const PhiloxCounter words = philox({group * 16 + lane, token, sentence, stream}, drop.key());
  const uint32_t number = words[j / 2] >> (16 * (j % 2)) & 0xFFFF;
  return number < drop.threshold() ? 0 : drop.scale();
}

}  // namespace dragoman
