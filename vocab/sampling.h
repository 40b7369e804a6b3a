#pragma once
#include <cstdint>
#include <functional>

namespace dragoman {

/// Runs `f` with SentencePiece's random generator restarted from `seed`. The library draws from a thread-local
/// generator that takes a global seed once, at its first use; so `f` runs in a fresh thread, and one at a time in the
/// whole process. Exceptions are rethrown.
void with_sampling_seed(uint64_t seed, const std::function<void()>& f);

}  // namespace dragoman
