#include "backend/cpu/families.h"
#include "backend/cpu/gemm.h"
#include "backend/products.h"
#include "base/threads.h"

namespace dragoman::cpu {
namespace {

// Bias and activation over rows that a product has just left in the cache.
void finish_rows(View<float> Y, const float* bias, Activation act) {
  for (int64_t n = 0; n < Y.rows; ++n) {
    float* y = Y.row(n);
    if (bias)
      for (int64_t d = 0; d < Y.cols; ++d) y[d] += bias[d];
    if (act == Activation::relu)
      for (int64_t d = 0; d < Y.cols; ++d) y[d] = std::max(y[d], 0.0f);
  }
}

// Blocks of rows small enough that y is still in L2 when its bias is added.
void linear(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b, Activation act) {
  invariant(act == Activation::none || act == Activation::relu, "linear fuses relu only");
  const int64_t block = std::max<int64_t>(256, (1 << 17) / std::max<int64_t>(1, y.cols()));
  parallel_blocks(y.rows(), 16, [&](Range rows, int) {
    for (int64_t from = rows.begin; from < rows.end; from += block) {
      const int64_t count = std::min(block, rows.end - from);
      const Tensor part = y.row_range(from, count);
      gemm(part, x.row_range(from, count), Transpose::no, w, Transpose::yes, Accumulate::no);
      if (b || act == Activation::relu) finish_rows(part.view<float>(), b ? b.as<float>() : nullptr, act);
    }
  });
}

void backward_input(Grad dx, const Tensor& dz, const Tensor& w) {
  parallel_blocks(dz.rows(), 16, [&](Range rows, int) {
    const int64_t count = rows.end - rows.begin;
    gemm(dx.tensor.row_range(rows.begin, count), dz.row_range(rows.begin, count), Transpose::no, w, Transpose::no,
         dx.mode);
  });
}

void backward_weight(Grad dw, const Tensor& dz, const Tensor& x) { gemm_over_rows(dw.tensor, dz, x, dw.mode); }

}  // namespace

void install_linear(ProductKernels& b) {
  b.linear = linear;
  b.linear_backward_input = backward_input;
  b.linear_backward_weight = backward_weight;
}

}  // namespace dragoman::cpu
