#pragma once
#include "backend/products.h"

namespace dragoman::cpu {

/// The I8 forms of the slots for decoding (backend.h): bytes of a packed weight, packing (two), selection
/// of rows, scratch, product.
int64_t int8_bytes(int64_t D, int64_t K);
void pack_int8(const Tensor& packed, const Tensor& w);
void pack_rounded(const Tensor& packed, std::span<const RoundedRows> parts);
void select_int8(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K);
int64_t linear_int8_scratch(int64_t N, int64_t K);
void linear_int8(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                 const Tensor& scratch);

}  // namespace dragoman::cpu
