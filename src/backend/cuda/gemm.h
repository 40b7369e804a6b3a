#pragma once
#include "tensor/activation.h"
#include "tensor/tensor.h"

namespace dragoman::cuda {

/// A matrix operand of a product, or its transpose.
struct Factor {
  Tensor matrix;
  bool transposed = false;
};

/// y (N,D) = act(a (N,K) · b (K,D) + bias (D)), or y += a · b. Factors are both f32 or both of one 16-bit type; sums
/// are f32, y is f32 or of the factors' type, and bias is of y's type. Row-major; rows may be strided. Integers: y
/// (i32) = a (N,K) · b (D,K)ᵀ, both i8, without bias, act or adds. D, K and y's stride are multiples of 4, rows of
/// factors start at multiples of 16 bytes, and N is more than 16.
struct Gemm {
  Tensor y;
  Factor a, b;
  Tensor bias = {};  // may be empty
  Activation act = Activation::none;
  bool adds = false;
};

/// Computes the product with cuBLASLt. Returns false if cuBLASLt has no kernel for it on this GPU: so for activations
/// other than relu.
bool try_gemm(const Gemm& g);
/// Always computes the product. If cuBLASLt has no kernel for it, bias, act and rounding to 16 bits take a pass over
/// sums in f32; if it has none for the bare product either, a slow kernel of ours computes it. A 16-bit result is
/// rounded once, but cuBLASLt may also round the product before it adds bias or y. Not for integers.
void gemm(const Gemm& g);
/// Counts a product computed by the slow kernel and warns of the first, because the slowness would be hard to explain.
void count_slow_product(const Gemm& g);

/// From now on, f32 factors may be rounded to TF32 when they are multiplied.
void multiply_in_tf32();

}  // namespace dragoman::cuda
