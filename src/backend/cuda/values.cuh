#pragma once
#include <bit>

#include "backend/cuda/device.cuh"
#include "backend/cuda/rounding.cuh"

namespace dragoman::cuda {

/// A number of a 16-bit type, bf16 or f16.
__device__ inline float of_half(uint16_t bits, DType type) {
  return type == DType::bf16 ? widened(std::bit_cast<bfloat16>(bits)) : widened(std::bit_cast<float16>(bits));
}
__device__ inline uint32_t two_halves(float x, float y, DType type) {
  return type == DType::bf16 ? two_bf16(x, y) : two_f16(x, y);
}
__device__ inline uint16_t half_of(float x, DType type) { return uint16_t(two_halves(x, 0, type)); }

/// A row of Values from some column on.
struct Row {
  const void* data;
  DType type;

  __device__ float operator[](int64_t d) const {
    return type == DType::f32 ? static_cast<const float*>(data)[d]
                              : of_half(static_cast<const uint16_t*>(data)[d], type);
  }
};

/// Activations or their gradients in a kernel, f32 or of a 16-bit type: read as f32, and rounded when written. The type
/// is a field, the same for a whole launch, so that one kernel serves all combinations of types. Where this takes too
/// many instructions, a kernel is compiled for types that are often the same (Unknown in four.cuh).
struct Values {
  void* data = nullptr;
  int64_t rows = 0, cols = 0, stride = 0;  // stride: elements from one row to the next
  DType type = DType::f32;

  Values() = default;
  explicit Values(const Tensor& x) : type(x.dtype()) {
    const auto set = [&]<class T>() {
      const auto v = view<T>(x);
      data = v.data, rows = v.rows, cols = v.cols, stride = v.stride;
    };
    is_half(type) ? for_half(type, set) : set.template operator()<float>();
  }

  __host__ __device__ explicit operator bool() const { return data != nullptr; }
  /// Where element (n, d) is, given the type as T: float, or uint16_t for any 16-bit type.
  template <class T>
  __device__ T* at(int64_t n, int64_t d) const {
    return static_cast<T*>(data) + n * stride + d;
  }
  __device__ Row row(int64_t n, int64_t d) const {
    return {type == DType::f32 ? static_cast<void*>(at<float>(n, d)) : at<uint16_t>(n, d), type};
  }
  __device__ float operator()(int64_t n, int64_t d) const {
    return type == DType::f32 ? *at<float>(n, d) : of_half(*at<uint16_t>(n, d), type);
  }
  __device__ void set(int64_t n, int64_t d, float x) const {
    if (type == DType::f32)
      *at<float>(n, d) = x;
    else
      *at<uint16_t>(n, d) = half_of(x, type);
  }
};

}  // namespace dragoman::cuda
