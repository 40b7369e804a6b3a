#pragma once
#include "tensor/activation.h"
#include "tensor/tensor.h"

namespace dragoman::cuda {

/// A matrix of a product, or its transpose.
struct Factor {
  Tensor matrix;
  bool transposed = false;
};

/// y (N,D) = act(a (N,K) · b (K,D) + bias (D)), or y += a · b. Factors are of f32, or both of one type of 16 bits; y
/// and sums are f32. act is none or relu. Row-major; rows may be strided.
/// Integers: y in i32 = a (N,K) · b (D,K)ᵀ, both of i8, without bias, act or adding. D, K and y's stride are multiples
/// of 4, rows of factors lie at multiples of 16 bytes, N is more than 16.
struct Gemm {
  Tensor y;
  Factor a, b;
  Tensor bias = {};  // or empty
  Activation act = Activation::none;
  bool adds = false;
};
/// Computed by cuBLASLt, or false: it has no kernel for this product on this GPU.
bool try_gemm(const Gemm& g);
/// Computed in any case: where the library has no kernel, bias and act take a pass of their own, and the product a slow
/// kernel of ours if it has none for that alone. Not of integers.
void gemm(const Gemm& g);
/// Counts a product of the slow kernel, and warns of the first one: nobody would see why it takes so long.
void count_slow_product(const Gemm& g);

/// From now on, factors of f32 may be rounded to TF32 as they are multiplied.
void multiply_in_tf32();

}  // namespace dragoman::cuda
