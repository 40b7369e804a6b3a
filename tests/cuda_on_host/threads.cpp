#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tests/cuda_on_host/memory.h"

namespace cuda_on_host {
namespace {

namespace context = boost::context;

constexpr unsigned warp_size = 32;

/// A barrier of the threads [begin, end): blocks each arrival until all of them that are still running have arrived.
struct Meeting {
  unsigned begin = 0, end = 0;
  unsigned members = 0, arrived = 0;
  uint64_t round = 0;
};

struct Copy {
  void* to;
  const void* from;  // null: zeros
};

struct WarpMemory {
  alignas(16) std::byte bytes[warp_bytes];
};

struct Warp {
  Meeting lanes;
  std::array<WarpMemory, 2> exchanges;  // used in turns: some lanes may still read the other one
};

struct Thread {
  context::fiber self;  // to resume it
  dim3 index;
  Warp* warp = nullptr;
  bool done = false;
  unsigned exchanges = 0;    // that it has taken part in
  std::vector<Copy> copies;  // that are under way
};

struct Block {
  std::vector<Thread> threads;
  context::fiber end;  // resumed when all are done
  Meeting all;
  std::vector<Warp> warps;
};

Block block;
Thread *current = nullptr, *last = nullptr;  // last: the thread that resumed the current one; null: none did
std::vector<std::byte> shared;
// In which order threads run. Each block has the other order than the one before it, since one order hides that a
// barrier is missing between a thread that writes and a later one that reads.
bool descending = false;

// Threads resume one another directly, which costs half of the switches of a loop that resumes one after the other.
void enter(Thread& next) {
  last = std::exchange(current, &next);
  threadIdx = next.index;
}
void has_entered(context::fiber&& from) { (last ? last->self : block.end) = std::move(from); }

// The next one of those that meet, of which some still run.
Thread& next_running(const Meeting& m) {
  for (unsigned t = current->index.x;;) {
    t = descending ? (t == m.begin ? m.end : t) - 1 : (t + 1 == m.end ? m.begin : t + 1);
    if (!block.threads[t].done) return block.threads[t];
  }
}

// Meanwhile the other threads of the meeting run.
void meet(Meeting& m) {
  ++m.arrived;
  for (const uint64_t round = m.round; m.round == round;) {
    if (m.arrived >= m.members) {
      m.arrived = 0;
      ++m.round;
    } else {
      Thread& next = next_running(m);
      enter(next);
      has_entered(std::move(next.self).resume());
    }
  }
}

// What runs after the current thread.
context::fiber finish() {
  dragoman::invariant(current->copies.empty(), "a thread waits for its copies");
  current->done = true;
  --current->warp->lanes.members;
  if (--block.all.members == 0) return std::move(block.end);
  Thread& next = next_running(block.all);
  enter(next);
  return std::move(next.self);
}

void run_block(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  // The stacks' ends lie in different sets of the caches, as they would not with a power of two: 15 % of the time of
  // whole runs.
  static context::pooled_fixedsize_stack stacks(64 * 1024 + 320);
  const unsigned count = config.blockDim.x, warps = (count + warp_size - 1) / warp_size;
  block = {};
  descending = !descending;
  shared.assign(std::max<size_t>(config.dynamicSmemBytes, 1), std::byte{0xFF});
  block.threads.resize(count);
  block.warps.resize(warps);
  block.all = {.begin = 0, .end = count, .members = count};
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned begin = w * warp_size, end = std::min(begin + warp_size, count);
    block.warps[w].lanes = {.begin = begin, .end = end, .members = end - begin};
  }
  for (unsigned t = 0; t < count; ++t) {
    block.threads[t].index = {t, 0, 0};
    block.threads[t].warp = &block.warps[t / warp_size];
    block.threads[t].self = context::fiber(std::allocator_arg, stacks, [&thread](context::fiber&& from) {
      has_entered(std::move(from));
      thread();
      return finish();
    });
  }
  current = nullptr;
  Thread& first = block.threads[descending ? count - 1 : 0];
  enter(first);
  std::move(first.self).resume();
}

}  // namespace

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
bool may_launch(const cudaLaunchConfig_t& config) {
  const dim3 grid = config.gridDim, threads = config.blockDim;
  return !on_another_device() && grid.y <= 65535 && grid.z <= 65535 && threads.x * threads.y * threads.z <= 1024 &&
         config.dynamicSmemBytes <= 99 * 1024;
}

void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  const Unlocked memory;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block(config, thread);
}

void* dynamic_shared_memory() { return shared.data(); }

void wait_for_block() { meet(block.all); }

void wait_for_warp() { meet(current->warp->lanes); }

void* warp_memory() {
  Warp& warp = *current->warp;
  dragoman::invariant(warp.lanes.members == warp_size, "all lanes of a warp take part in an exchange");
  return warp.exchanges[current->exchanges++ % 2].bytes;
}

void copy_later(void* to, const void* from) {
  dragoman::invariant(uintptr_t(to) % 16 == 0 && uintptr_t(from) % 16 == 0, "copies are of aligned bytes");
  current->copies.push_back({to, from});
}

void finish_copies() {
  static constexpr std::byte zeros[16] = {};
  for (const Copy& copy : std::exchange(current->copies, {})) checked_copy(copy.to, copy.from ? copy.from : zeros, 16);
}

}  // namespace cuda_on_host
