#pragma once
#include <cstdint>

namespace dragoman::cpu {

constexpr int64_t int8_panel = 64;  // columns computed together
constexpr int64_t int8_quad = 4;    // numbers of x and w that one 32-bit lane multiplies and adds

/// What the integer kernels compute: 64 columns of y = act(row_scale · column_scale · (x · wᵀ) + bias), for all rows.
/// x holds -128…127, w -127…127. Sums of products are exact in 32 bits up to K = 133,000, and no intermediate sum of
/// any kernel saturates, so all kernels give the same integers and the result does not depend on the kernel.
struct Int8Panel {
  const uint8_t* x;  // (rows, stride) bytes in the kernel's form, zeros up to a multiple of 4
  int64_t rows, stride;
  const int8_t* w;  // (quads, 64, 4): four k of each column together
  int64_t quads;
  const int32_t* below;              // (rows): the sum of |x| over negative x, with Int8Form::apart
  const int32_t* sums;               // (64): of the column's weights
  const float *row_scales, *scales;  // (rows) (64)
  const float* bias;                 // (64)
  bool relu;
  float* y;
  int64_t y_stride, columns;  // how many of the 64 exist
};

/// The format in which a kernel expects a row of x: 4 · quads bytes, or twice as many.
enum class Int8Form {
  plain,
  offset,  // x + 128: VNNI multiplies unsigned by signed bytes; 128 · sums is subtracted at the end
  apart,   // |x| of the whole row, then 255 where x is negative and 0 elsewhere
};

struct Int8Kernel {
  void (*panel)(const Int8Panel& p);
  Int8Form form;
};

void int8_avx512_vnni(const Int8Panel& p);  // int8_avx512_vnni.cpp, Int8Form::offset
void int8_avx_vnni(const Int8Panel& p);     // int8_avx_vnni.cpp, Int8Form::offset
void int8_avx2(const Int8Panel& p);         // int8_avx2.cpp, Int8Form::apart
void int8_neon_dot(const Int8Panel& p);     // int8_neon_dot.cpp, Int8Form::plain
void int8_neon(const Int8Panel& p);         // int8_neon.cpp, Int8Form::plain
void int8_portable(const Int8Panel& p);     // int8_portable.cpp, Int8Form::plain

}  // namespace dragoman::cpu
