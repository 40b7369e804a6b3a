#include <algorithm>
#include <cmath>

#include "backend/cpu/int8.h"

namespace dragoman::cpu {

void int8_portable(const Int8Panel& p) {
  for (int64_t row = 0; row < p.rows; ++row) {
    const auto* x = reinterpret_cast<const int8_t*>(p.x + row * p.stride);
    int32_t sums[int8_panel] = {};
    for (int64_t q = 0; q < p.quads; ++q)
      for (int64_t c = 0; c < int8_panel; ++c)
        for (int64_t i = 0; i < int8_quad; ++i)
          sums[c] += int32_t{x[q * int8_quad + i]} * p.w[(q * int8_panel + c) * int8_quad + i];
    float* y = p.y + row * p.y_stride;
    for (int64_t c = 0; c < std::min(int8_panel, p.columns); ++c) {
      y[c] = std::fma(float(sums[c]) * p.row_scales[row], p.scales[c], p.bias[c]);
      if (p.relu) y[c] = std::max(y[c], 0.0f);
    }
  }
}

}  // namespace dragoman::cpu
