#include "backend/cuda/families.h"
#include "backend/cuda/mask.cuh"
#include "backend/cuda/put.cuh"

namespace dragoman::cuda {
namespace {

// y = x + mask · r.  y, x, r (N,D), x may be empty
void forward(const Tensor& y, const Tensor& x, const Tensor& r, const Dropout& drop) {
  const Values Y(y), X(x), R(r);
  each_masked(
      Y.rows, Y.cols, Mask(drop), [=] __device__(int64_t n, int64_t d) { return R(n, d); },
      [=] __device__(int64_t n, int64_t d, float kept) { Y.set(n, d, (X ? X(n, d) : 0.f) + kept); });
}

// dr = mask · dy
void backward(Grad dr, const Tensor& dy, const Dropout& drop) {
  const Put DR(dr);
  const Values DY(dy);
  each_masked(
      DY.rows, DY.cols, Mask(drop), [=] __device__(int64_t n, int64_t d) { return DY(n, d); },
      [=] __device__(int64_t n, int64_t d, float kept) { DR(n, d, kept); });
}

}  // namespace

void install_dropout(Backend& b) {
  b.dropout = forward;
  b.dropout_backward = backward;
}

}  // namespace dragoman::cuda
