#pragma once
#include <string>

namespace dragoman::cpu {

/// Selects the CPU's best instruction set for the vector kernels; called before any of them. A pointer taken from
/// HWY_DYNAMIC_DISPATCH before that queries the CPU at each call, slowly.
void choose_instructions();

/// The instructions that the libraries use on this CPU: "2.6.3 on AVX2", "AVX2".
std::string describe_onednn();
std::string describe_highway();

/// Whether AVX2 is the CPU's best instruction set. Reads a stored answer, so it may be called for each product.
bool has_no_more_than_avx2();

/// Whether the CPU has instructions that multiply bytes and add four products: AVX-512 VNNI, AVX-VNNI, or ARM's dot
/// product. Without them products in int8 give the same results, but more slowly.
bool has_int8_products();

/// Whether the CPU multiplies bfloat16 and oneDNN has a product for it (backend/cpu/gemm_bf16.cpp).
bool has_bfloat16();

}  // namespace dragoman::cpu
