// The kernel for CPUs with AVX-VNNI, with its one instruction encoded for CPUs with AVX-512 VNNI, most of which do not
// support the other encoding.
#include <immintrin.h>
#define _mm256_dpbusd_avx_epi32 _mm256_dpbusd_epi32
#define int8_avx_vnni int8_avx_vnni_on_avx512
#include "backend/cpu/int8_avx_vnni.cpp"
