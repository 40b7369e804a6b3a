#pragma once
#include <string>

namespace dragoman::cpu {

/// With which instructions the libraries compute on this CPU: "2.6.3 on AVX2", "AVX2".
std::string describe_onednn();
std::string describe_highway();

/// Whether AVX2 is the best that the CPU has. Asks nobody, so it may be called for each product.
bool has_no_more_than_avx2();

/// Whether the CPU has VNNI, AVX-512's or AVX's, which multiplies bytes. Products in int8 are the same without it, and
/// slower.
bool has_vnni();

/// Whether the CPU multiplies bfloat16 and oneDNN has a product for it (backend/cpu/gemm_bf16.cpp).
bool has_bfloat16();

}  // namespace dragoman::cpu
