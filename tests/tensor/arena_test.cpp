#include "tensor/arena.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

namespace dragoman {
namespace {

constexpr int64_t kib = 1024;

Tensor block(Arena& arena, int64_t bytes) { return arena.allocate({bytes}, DType::u8); }

TEST(Arena, HandsOutAlignedBlocksThatDoNotOverlap) {
  Arena arena;
  const Tensor a = arena.allocate({3, 5}, DType::f32), b = arena.allocate({1}, DType::f64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data()) % 64, 0u);
  EXPECT_EQ(static_cast<std::byte*>(b.data()) - static_cast<std::byte*>(a.data()), 64);
  EXPECT_EQ(a.shape(), (Shape{3, 5}));
  EXPECT_EQ(a.dtype(), DType::f32);
}

TEST(Arena, ReusesTheFirstHoleThatFits) {
  Arena arena;
  Tensor a = block(arena, 2 * kib), b = block(arena, kib), c = block(arena, 4 * kib), d = block(arena, kib);
  const void *first = a.data(), *third = c.data();
  a = c = Tensor();
  EXPECT_EQ(block(arena, 3 * kib).data(), third);
  EXPECT_EQ(block(arena, kib).data(), first);
}

TEST(Arena, JoinsNeighboursWhateverTheOrderTheyReturnIn) {
  for (const auto& order : {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    Arena arena;
    Tensor parts[] = {block(arena, kib), block(arena, kib), block(arena, kib)}, last = block(arena, kib);
    const void* first = parts[0].data();
    for (int i : order) parts[i] = Tensor();
    EXPECT_EQ(block(arena, 3 * kib).data(), first);
    EXPECT_EQ(arena.peak(), 4 * kib);
  }
}

TEST(Arena, CountsWhatIsInUseAndTheHighestAddressEver) {
  Arena arena;
  Tensor a = block(arena, kib), b = block(arena, 2 * kib);
  EXPECT_EQ(arena.in_use(), 3 * kib);
  a = Tensor();
  EXPECT_EQ(arena.in_use(), 2 * kib);
  EXPECT_EQ(arena.peak(), 3 * kib);
  b = Tensor();
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_EQ(arena.peak(), 3 * kib);
  arena.reset_peak();
  EXPECT_EQ(arena.peak(), 0);
}

// The system's pages are new ones, of zeros.
TEST(Arena, GivesWhatIsFreeBackToTheSystem) {
  constexpr int64_t large = 64 * kib;
  Arena arena;
  Tensor first = block(arena, large), kept = block(arena, large), last = block(arena, large);
  std::byte* const base = static_cast<std::byte*>(first.data());
  std::fill_n(base, 3 * large, std::byte{7});
  first = last = Tensor();
  arena.reset_peak();
  EXPECT_EQ(arena.peak(), 2 * large);
  for (const int64_t offset : {int64_t{0}, large / 2, 2 * large, 3 * large - 1}) EXPECT_EQ(base[offset], std::byte{0});
  EXPECT_TRUE(std::all_of(base + large, base + 2 * large, [](std::byte b) { return b == std::byte{7}; }));
}

TEST(Arena, FreesABlockWithItsLastTensor) {
  Arena arena;
  Tensor whole = arena.allocate({4, 16}, DType::f32);
  Tensor part = whole.columns(3, 2);
  whole = Tensor();
  EXPECT_EQ(arena.in_use(), 256);
  part = Tensor();
  EXPECT_EQ(arena.in_use(), 0);
}

TEST(Arena, SaysWhatDidNotFit) {
  Arena arena(Arena::Reserve::memory, 8 << 20);
  const Tensor half = block(arena, 4 << 20);
  try {
    arena.allocate({1024, 1280}, DType::f32);
    FAIL() << "5 MiB fit beside 4 of 8";
  } catch (const Error& error) {
    for (const char* part : {"out of memory", "(1024,1280)", "5 MiB", "8 MiB"})
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
  EXPECT_EQ(arena.in_use(), 4 << 20);
  EXPECT_EQ(arena.peak(), 4 << 20);
  EXPECT_NO_THROW(block(arena, 4 << 20)) << "a refused block leaves the arena as it was";
}

TEST(Arena, LeavesItsBlocksAliveWhenItGoes) {
  Tensor x;
  {
    Arena arena;
    x = arena.allocate({1000}, DType::f32);
  }
  std::memset(x.data(), 0, x.bytes());
  EXPECT_EQ(x.as<float>()[999], 0);
}

TEST(Arena, PlansMoreThanTheMachineHasWithAddressesOnly) {
  Arena arena(Arena::Reserve::addresses_only);
  const Tensor x = arena.allocate({int64_t{1} << 40}, DType::f32);
  EXPECT_EQ(arena.peak(), int64_t{1} << 42);
}

TEST(Arena, PlansWithFewerAddressesWhereTheMachineHasFewer) {
  Arena arena(Arena::Reserve::addresses_only, int64_t{1} << 60);  // no machine has as many
  EXPECT_NO_THROW(arena.allocate({1 << 20}, DType::f32));
}

}  // namespace
}  // namespace dragoman
