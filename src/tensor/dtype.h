#pragma once
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tensor/bfloat16.h"
#include "tensor/float16.h"

namespace dragoman {

/// Element types of tensors, named as in safetensors files.
enum class DType : uint8_t { f64, f32, bf16, f16, i64, i32, i8, u8 };

int64_t size_of(DType dtype);           // bytes of one element
std::string_view name_of(DType dtype);  // "F64", "F32", "BF16", "F16", "I64", "I32", "I8", "U8"

/// The type of statistics (means, log-sum-exps, losses) of values of `dtype`: f64 for f64, else f32.
constexpr DType stat_type(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// 16-bit types: factors of products, and activations, may be rounded to these; sums stay f32.
constexpr bool is_half(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<bfloat16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<float16>() {
  return DType::f16;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}

/// Calls f.operator()<T>() with the C++ type of a floating-point dtype. DTypes become types only here and just below.
template <class F>
void for_dtype(DType dtype, F f) {
  switch (dtype) {
    case DType::f64:
      return f.template operator()<double>();
    case DType::f32:
      return f.template operator()<float>();
    default:
      fail("this kernel does not support {}, only f32 and f64", name_of(dtype));
  }
}
/// The same with any floating-point type, for kernels that convert.
template <class F>
void for_stored(DType dtype, F f) {
  switch (dtype) {
    case DType::bf16:
      return f.template operator()<bfloat16>();
    case DType::f16:
      return f.template operator()<float16>();
    default:
      return for_dtype(dtype, f);
  }
}
/// The same with the C++ type of a 16-bit dtype.
template <class F>
void for_half(DType dtype, F f) {
  invariant(is_half(dtype), "expected a 16-bit type");
  if (dtype == DType::f16) return f.template operator()<float16>();
  f.template operator()<bfloat16>();
}

}  // namespace dragoman

template <>
struct fmt::formatter<dragoman::DType> : fmt::formatter<std::string_view> {
  fmt::format_context::iterator format(dragoman::DType dtype, format_context& context) const;
};
