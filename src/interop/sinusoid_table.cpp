#include "interop/sinusoid_table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interop/export.h"

namespace dragoman {
namespace {

// Enough rows to distinguish all designs from each other, and 16-bit rounding from other values.
constexpr int64_t rows_compared = 32;
constexpr float tolerance = 1e-2f;

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return std::abs(x - y) <= tolerance; });
}

}  // namespace

std::vector<float> sinusoid_rows(const SinusoidDesign& d, int64_t rows) {
  const int64_t half = d.dim / 2;
  const bool turns = d.order == SinusoidOrder::interleaved;
  std::vector<float> table(size_t(rows * d.dim));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < half; ++i) {
      const double power = d.tensor2tensor ? double(i) / double(half - 1) : 2 * double(i) / double(d.dim);
      const double angle = double(r + d.first) * std::pow(10000.0, -power);
      table[size_t(r * d.dim + (turns ? 2 * i : i))] = float(std::sin(angle));
      table[size_t(r * d.dim + (turns ? 2 * i + 1 : half + i))] = float(std::cos(angle));
    }
  return table;
}

std::optional<SinusoidDesign> recognise_sinusoids(const ForeignTensor& table) {
  if (table.shape.size() != 2 || table.shape[1] < 4 || table.shape[1] % 2 != 0) return std::nullopt;
  const int64_t D = table.shape[1], rows = std::min(rows_compared, table.shape[0]);
  if (rows == 0 || !is_floating(table.dtype)) return std::nullopt;
  const std::vector<float> values = floats_of({.dtype = table.dtype, .make = rows_of(table, 0, rows).read});
  for (const SinusoidOrder order : {SinusoidOrder::halves, SinusoidOrder::interleaved})
    for (const bool tensor2tensor : {false, true})
      for (const int64_t first : {0, 1, 2}) {
        const SinusoidDesign design{D, order, tensor2tensor, first};
        if (near(values, sinusoid_rows(design, rows))) return design;
      }
  return std::nullopt;
}

}  // namespace dragoman
