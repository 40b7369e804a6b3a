#include <cuda_runtime.h>

#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <vector>

#include "tests/cuda_on_host/memory.h"

namespace cuda_on_host {
namespace {

namespace context = boost::context;

constexpr unsigned warp_size = 32;

/// A barrier: blocks each arrival until all threads that are still running have arrived.
struct Meeting {
  unsigned members = 0, arrived = 0;
  uint64_t round = 0;
};

struct Thread {
  context::fiber self, block;  // to resume this thread, and to return from it to its block
  dim3 index;
  bool done = false;
};

struct Block {
  std::vector<Thread> threads;
  Meeting all;
  std::vector<Meeting> warps;
  std::vector<std::array<uint64_t, warp_size>> given;  // of each warp's lanes
  std::vector<std::array<Given, 2>> gathered;          // likewise, double-buffered: some lanes may still read one
  std::vector<std::array<unsigned, warp_size>> turns;
};

Block block;
Thread* current = nullptr;
std::vector<std::byte> shared;

void take_turns() {
  Thread* mine = current;
  mine->block = std::move(mine->block).resume();
}

void meet(Meeting& m) {
  ++m.arrived;
  for (const uint64_t round = m.round; m.round == round;) {
    if (m.arrived >= m.members) {
      m.arrived = 0;
      ++m.round;
    } else {
      take_turns();
    }
  }
}

Meeting& warp() { return block.warps[threadIdx.x / warp_size]; }

void run_block(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  static context::pooled_fixedsize_stack stacks(64 * 1024);
  const unsigned count = config.blockDim.x, warps = (count + warp_size - 1) / warp_size;
  block = {};
  block.threads.resize(count);
  block.all.members = count;
  block.warps.resize(warps);
  block.given.resize(warps);
  block.gathered.resize(warps);
  block.turns.resize(warps);
  for (unsigned t = 0; t < count; ++t) {
    ++block.warps[t / warp_size].members;
    Thread& mine = block.threads[t];
    mine.index = {t, 0, 0};
    mine.self = context::fiber(std::allocator_arg, stacks, [&mine, &thread](context::fiber&& back) {
      mine.block = std::move(back);
      thread();
      mine.done = true;
      --block.all.members;
      --block.warps[mine.index.x / warp_size].members;
      return std::move(mine.block);
    });
  }
  for (bool any = true; any;) {
    any = false;
    for (Thread& t : block.threads) {
      if (t.done) continue;
      current = &t;
      threadIdx = t.index;
      t.self = std::move(t.self).resume();
      any = any || !t.done;
    }
  }
}

}  // namespace

void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  const Unlocked memory;
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  shared.assign(std::max<size_t>(config.dynamicSmemBytes, 1), std::byte{0xFF});
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block(config, thread);
}

void* dynamic_shared_memory() { return shared.data(); }

void wait_for_block() { meet(block.all); }
void wait_for_warp() { meet(warp()); }

uint64_t exchange(uint64_t mine, unsigned lane) {
  auto& given = block.given[threadIdx.x / warp_size];
  given[threadIdx.x % warp_size] = mine;
  wait_for_warp();
  const uint64_t theirs = given[lane];
  wait_for_warp();  // no new values before all have read these
  return theirs;
}

const Given& gather(const uint32_t (&mine)[words_given]) {
  const unsigned warp_number = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  Given& all = block.gathered[warp_number][block.turns[warp_number][lane]++ % 2];
  std::copy(mine, mine + words_given, all[lane]);
  wait_for_warp();
  return all;
}

}  // namespace cuda_on_host
