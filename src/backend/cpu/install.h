#pragma once
namespace dragoman {
struct Backend;
}

namespace dragoman::cpu {

/// Replaces the reference's kernels by vector kernels for f32, some of them also for bf16, and says which libraries and
/// instructions they use. Slots without a cpu kernel keep the reference's.
void install(Backend& backend);

}  // namespace dragoman::cpu
