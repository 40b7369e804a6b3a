#pragma once
#include <cstdint>

namespace dragoman::cpu {

constexpr int64_t int8_panel = 64;  // columns that are computed together
constexpr int64_t int8_quad = 4;    // numbers of x and w that one 32-bit lane multiplies and adds

/// What the integer kernels compute: 64 columns of y = act(row_scale · column_scale · (x · wᵀ) + bias), for all rows.
/// x and w hold -127…127. Sums of products are exact in 32 bits up to K = 133,000, and no intermediate sum of any
/// kernel saturates, so each kernel gives the same integers and the choice of one changes no result.
struct Int8Panel {
  const uint8_t* x;  // (rows, stride) bytes, zeros up to a multiple of 4; as `Int8Kernel::flip` wants them
  int64_t rows, stride;
  const int8_t* w;  // (quads, 64, 4): four k of each column together
  int64_t quads;
  const int32_t* sums;               // (64): of the column's weights
  const float *row_scales, *scales;  // (rows) (64)
  const float* bias;                 // (64)
  bool relu;
  float* y;
  int64_t y_stride, columns;  // how many of the 64 exist
};

/// A kernel and what it wants every byte of x to be combined with (exclusive or): VNNI multiplies unsigned by signed
/// bytes, so there x is kept as x + 128, and 128 · sums is taken off in the end.
struct Int8Kernel {
  void (*panel)(const Int8Panel& p);
  uint8_t flip;
};

void int8_avx512_vnni(const Int8Panel& p);  // int8_avx512_vnni.cpp, wants flip 0x80
void int8_avx_vnni(const Int8Panel& p);     // int8_avx_vnni.cpp, wants flip 0x80
void int8_avx2(const Int8Panel& p);         // int8_avx2.cpp
void int8_portable(const Int8Panel& p);     // int8_portable.cpp

}  // namespace dragoman::cpu
