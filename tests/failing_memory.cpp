#include "tests/failing_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace dragoman {
namespace {

std::atomic<int> until_failure = 0;  // 0: none fails
std::atomic<bool> always = false, here = false, any_failed = false;
thread_local bool makes_it_fail = false;

bool allocation_fails() {
  if (until_failure.load() == 0 || makes_it_fail != here) return false;
  if (until_failure.fetch_sub(1) > 1) return false;
  any_failed = true;
  until_failure = always ? 1 : 0;
  return true;
}

// Null: there is none.
void* try_allocate(std::size_t bytes, std::size_t alignment) {
  return allocation_fails() ? nullptr : std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* const memory = try_allocate(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailingMemory::FailingMemory(int n, Fails fails, In threads) {
  makes_it_fail = true;
  any_failed = false;
  always = fails == Fails::always;
  here = threads == In::this_thread;
  until_failure = n;
}
FailingMemory::~FailingMemory() {
  until_failure = 0;
  makes_it_fail = false;
}
bool FailingMemory::failed() { return any_failed; }

}  // namespace dragoman

void* operator new(std::size_t bytes) { return dragoman::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return dragoman::allocate(bytes, std::size_t(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return dragoman::try_allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return dragoman::try_allocate(bytes, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
