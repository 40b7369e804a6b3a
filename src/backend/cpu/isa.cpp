#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/isa.cpp"
#include <hwy/foreach_target.h>
//
#include <dnnl.h>
#include <fmt/format.h>
#include <hwy/highway.h>

#if HWY_ARCH_ARM_A64
  #include <sys/auxv.h>
#endif

#include "backend/cpu/isa.h"

HWY_BEFORE_NAMESPACE();
namespace dragoman::cpu {
namespace HWY_NAMESPACE {

int64_t Target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace dragoman::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dragoman::cpu {
namespace {

HWY_EXPORT(Target);

std::string_view instruction_set(dnnl_cpu_isa_t isa) {
  if (HWY_ARCH_ARM_A64) return "AArch64";  // whose instruction sets have the numbers of those of x86
  switch (int(isa)) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512 VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512 bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512 AMX";
  #if DNNL_VERSION_MAJOR >= 3
    case dnnl_cpu_isa_avx512_core_fp16:
      return "AVX-512 fp16";
    case dnnl_cpu_isa_avx512_core_amx_fp16:
      return "AVX-512 AMX fp16";
  #endif
    case dnnl_cpu_isa_avx2_vnni:
      return "AVX2 VNNI";
    default:
      return "plain x86-64";
  }
}

}  // namespace

std::string describe_onednn() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{} on {}", version->major, version->minor, version->patch,
                     instruction_set(dnnl_get_effective_cpu_isa()));
}

// With one target, nothing is chosen, and Highway is not asked: it lists NEON only where the CPU has AES, which no
// kernel uses, and prints a warning elsewhere (Raspberry Pi 4).
void choose_instructions() {
  if constexpr ((HWY_TARGETS & (HWY_TARGETS - 1)) != 0) hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Highway calls AVX-512 "AVX3".
std::string describe_highway() {
  const int64_t target = HWY_DYNAMIC_DISPATCH(Target)();
  switch (target) {
    case HWY_AVX3:
      return "AVX-512";
    case HWY_AVX3_DL:
      return "AVX-512 VNNI";
    default:
      return hwy::TargetName(target);
  }
}

bool has_no_more_than_avx2() { return HWY_DYNAMIC_DISPATCH(Target)() == HWY_AVX2; }

bool has_int8_products() {
  #if HWY_ARCH_X86
  const int64_t best = HWY_DYNAMIC_DISPATCH(Target)();
  return (best <= HWY_AVX3 && __builtin_cpu_supports("avx512vnni")) ||
         (best <= HWY_AVX2 && __builtin_cpu_supports("avxvnni"));
  #elif HWY_ARCH_ARM_A64
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  #else
  return false;
  #endif
}

}  // namespace dragoman::cpu
#endif
