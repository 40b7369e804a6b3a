#include "tests/failing_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace dragoman {
namespace {

std::atomic<int> until_failure = 0;  // 0: none fails
std::atomic<bool> always = false, any_failed = false;
thread_local bool spared = false, none_here = false;

bool fails_now() {
  if (none_here) return true;
  if (spared || until_failure.load() == 0) return false;
  if (until_failure.fetch_sub(1) > 1) return false;
  any_failed = true;
  until_failure = always ? 1 : 0;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* const memory = fails_now() ? nullptr : std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailingMemory::FailingMemory(int n, Fails fails) {
  spared = true;
  any_failed = false;
  always = fails == Fails::always;
  until_failure = n;
}
FailingMemory::~FailingMemory() {
  until_failure = 0;
  spared = false;
}
bool FailingMemory::failed() { return any_failed; }

NoMemory::NoMemory() { none_here = true; }
NoMemory::~NoMemory() { none_here = false; }

}  // namespace dragoman

void* operator new(std::size_t bytes) { return dragoman::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return dragoman::allocate(bytes, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
