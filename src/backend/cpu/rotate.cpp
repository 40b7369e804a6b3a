#include "backend/attention.h"
#include "backend/cpu/families.h"
#include "base/threads.h"

namespace dragoman::cpu {
namespace {

void rotate(const Tensor& y, const Tensor& x, const Tensor& table, const Tensor& positions, int heads, int direction) {
  const auto Y = y.view<float>(), X = x.view<float>(), sinusoids = table.view<float>();
  const auto position = positions.view<int32_t>();
  const int64_t half = X.cols / heads / 2;
  const float sign = float(direction);
  parallel_blocks(X.rows, 8, [&](Range rows, int) {
    for (int64_t n = rows.begin; n < rows.end; ++n) {
      const float *sine = sinusoids.row(position(n, 1)), *cosine = sine + half;
      for (int64_t first = 0; first < X.cols; first += 2 * half) {
        float *out = Y.row(n) + first, *in = X.row(n) + first;
        for (int64_t c = 0; c < half; ++c) {
          const float a = in[c], b = in[c + half], s = sign * sine[c];
          out[c] = cosine[c] * a - s * b;
          out[c + half] = s * a + cosine[c] * b;
        }
      }
    }
  });
}

}  // namespace

void install_rotate(AttentionKernels& b) { b.rotate = rotate; }

}  // namespace dragoman::cpu
