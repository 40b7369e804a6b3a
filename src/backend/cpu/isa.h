#pragma once
#include <string>

namespace dragoman::cpu {

/// The instructions that the libraries use on this CPU: "2.6.3 on AVX2", "AVX2".
std::string describe_onednn();
std::string describe_highway();

/// Whether AVX2 is the CPU's best instruction set. Reads a stored answer, so it may be called for each product.
bool has_no_more_than_avx2();

/// Whether the CPU has AVX-512 VNNI or AVX-VNNI, which multiply bytes. Without them products in int8 give the same
/// results, but more slowly.
bool has_vnni();

/// Whether the CPU multiplies bfloat16 and oneDNN has a product for it (backend/cpu/gemm_bf16.cpp).
bool has_bfloat16();

}  // namespace dragoman::cpu
