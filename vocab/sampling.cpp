#include "vocab/sampling.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <mutex>
#include <thread>

#include "base/new_thread.h"
#include "base/philox.h"

namespace dragoman {

void with_sampling_seed(uint64_t seed, const std::function<void()>& f) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  // 32 well-mixed bits; the library reserves the largest number for "seed from the hardware".
  const uint32_t mixed = PhiloxSequence(seed, 0).next();
  sentencepiece::SetRandomGeneratorSeed(mixed == UINT32_MAX ? 0 : mixed);
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      f();
    } catch (...) {
      thrown = std::current_exception();
    }
  };
  new_thread([&] { return std::thread(work); }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace dragoman
