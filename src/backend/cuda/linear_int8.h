#pragma once
#include "backend/backend.h"

namespace dragoman::cuda {

/// I8 forms of the decoding slots (backend.h): the size in bytes of quantized rows (packed weights and scratch), two
/// ways of packing, row selection, product.
int64_t int8_bytes(int64_t rows, int64_t K);
void pack_int8(const Tensor& packed, const Tensor& w);
void pack_rounded(const Tensor& packed, std::span<const RoundedRows> parts);
void select_int8(const Tensor& selected, const Tensor& packed, const Tensor& rows, int64_t D, int64_t K);
void linear_int8(const Tensor& y, const Tensor& x, const Tensor& packed, const Tensor& b, Activation act,
                 const Tensor& scratch);

}  // namespace dragoman::cuda
